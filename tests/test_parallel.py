"""Threads of one core each."""

import threading

import pytest
import torch  # noqa: F401  its libraries have to be loaded before the limits are read
from threadpoolctl import threadpool_info, threadpool_limits

from conftest import make_quick
from imboost.detectors.stack.base_learners import ScoreModel
from imboost.parallel import map_in_threads, scoring_threads, without_threads

MANY = 3  # threads of numeric libraries outside of `map_in_threads`


@pytest.fixture
def many_threads():
    with threadpool_limits(limits=MANY):
        yield


def library_threads(*apis):
    """Return the numbers of threads that numeric libraries would start."""
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] in apis}


def names_of_threads(n_jobs):
    barrier = threading.Barrier(n_jobs, timeout=30)  # every thread has to take an item

    def name(_):
        barrier.wait()
        return threading.current_thread().name

    return map_in_threads(name, range(n_jobs), n_jobs)


def test_items_are_shared_by_the_threads_and_results_keep_their_order():
    assert len(set(names_of_threads(3))) == 3
    assert map_in_threads(lambda item: item**2, range(100), 3) == [n**2 for n in range(100)]


def test_a_thread_starts_no_further_threads():
    def inner(_):
        return set(map_in_threads(lambda _: threading.current_thread().name, range(8), 4))

    assert all(len(names) == 1 for names in map_in_threads(inner, range(4), 2))
    with without_threads():
        assert inner(0) == {threading.current_thread().name}


def test_an_error_of_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda item: 1 / item, [1, 0, 2], 2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_numeric_libraries_start_no_threads_meanwhile(many_threads, n_jobs):
    found = map_in_threads(lambda _: library_threads("blas", "openmp"), range(4), n_jobs)
    assert found == [{1}] * 4
    assert library_threads("blas", "openmp") == {MANY}


def test_stack_is_fitted_with_one_thread_of_blas(many_threads, planted, monkeypatch):
    fit, found = ScoreModel.fit, []

    def recorded(*arguments):
        found.append(library_threads("blas"))
        return fit(*arguments)

    monkeypatch.setattr(ScoreModel, "fit", recorded)
    make_quick("stack").fit(planted.X).refine(planted.X, planted.y)
    assert found == [{1}, {1}]
    assert library_threads("blas") == {MANY}


def test_the_limit_of_blas_lasts_until_the_last_of_overlapping_threads_ends(many_threads):
    first_runs, second_runs, first_ended = (threading.Event() for _ in range(3))
    during = []

    def compute_first(_):
        first_runs.set()
        assert second_runs.wait(30)

    def compute_second(_):
        second_runs.set()
        assert first_ended.wait(30)
        during.append(library_threads("blas"))

    first = threading.Thread(target=map_in_threads, args=(compute_first, [0], 1))
    second = threading.Thread(target=map_in_threads, args=(compute_second, [0], 1))
    first.start()
    assert first_runs.wait(30)
    second.start()
    first.join(30)
    first_ended.set()
    second.join(30)
    assert during == [{1}]
    assert library_threads("blas") == {MANY}


def test_scoring_threads_limit_libraries_while_they_compute(many_threads):
    with scoring_threads(2) as pool:
        assert pool.submit(library_threads, "blas", "openmp").result() == {1}
        map_in_threads(str, range(2), 2)
        assert pool.submit(library_threads, "blas").result() == {1}
        assert list(pool.map(library_threads, ["blas"] * 3)) == [{1}] * 3
    assert library_threads("blas") == {MANY}


def test_a_pool_that_is_never_shut_down_keeps_no_limit(many_threads):
    pool = scoring_threads(1)
    assert pool.submit(library_threads, "blas").result() == {1}
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 / 0).result()
    assert library_threads("blas") == {MANY}
    pool.shutdown()
