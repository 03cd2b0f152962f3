"""Threads of one core each."""

import threading

import pytest

from imboost.parallel import map_in_threads, without_threads


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
