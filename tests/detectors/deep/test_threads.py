"""Deep detectors on one CPU thread and on several."""

import threading

import numpy as np
import pytest
import torch

from conftest import DEEP, make_quick
from imboost.training.loop import one_thread


@pytest.fixture
def set_threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", DEEP)
def test_scores_do_not_depend_on_the_number_of_threads(name, set_threads):
    X = np.random.default_rng(0).normal(size=(1500, 120))
    y = np.full(len(X), -1)
    y[:20], y[20:60] = 1, 0
    batches = {"batch_size": 512} if name != "odim" else {}
    scores = []
    for n_threads in (1, 3):
        set_threads(n_threads)
        detector = make_quick(name, **batches).fit(X).refine(X, y)
        scores.append([detector.decision_scores_, detector.query_scores_])
    np.testing.assert_allclose(*scores, rtol=1e-6)
    assert torch.get_num_threads() == 3


def test_a_thread_that_begins_within_the_limit_of_another_has_all_threads_after_its_own(
    set_threads,
):
    set_threads(3)
    found = []

    def begin():
        with one_thread():
            found.append(torch.get_num_threads())
        found.append(torch.get_num_threads())

    with one_thread():
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
    assert found == [1, 3]
    assert torch.get_num_threads() == 3


def test_limits_of_one_thread_nest(set_threads):
    set_threads(3)
    with one_thread():
        with one_thread():
            pass
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3
