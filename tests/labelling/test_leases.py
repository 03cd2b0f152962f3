"""Leases of open questions among several people."""

import pytest

from imboost.labelling.leases import Leases


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


@pytest.fixture
def leases(clock):
    return Leases(seconds=60.0, clock=clock)


def test_two_people_get_different_questions(leases):
    assert leases.take([5, 7], "ann") == 5
    assert leases.take([5, 7], "bob") == 7
    assert leases.take([5, 7], "eve") is None


def test_a_person_gets_the_same_question_until_it_is_answered(leases):
    assert [leases.take([5, 7], "ann") for _ in range(3)] == [5, 5, 5]
    leases.release([5])
    assert leases.take([7], "ann") == 7


def test_a_new_question_in_front_does_not_replace_the_one_on_screen(leases):
    assert leases.take([5], "ann") == 5
    assert leases.take([9, 5], "ann") == 5


def test_an_unanswered_question_comes_back_after_the_lease(leases, clock):
    assert leases.take([5], "ann") == 5
    clock.now = 59.0
    assert leases.take([5], "bob") is None
    assert leases.is_held_by_other(5, "bob")
    clock.now = 61.0
    assert not leases.is_held_by_other(5, "bob")
    assert leases.take([5], "bob") == 5
    assert leases.is_held_by_other(5, "ann")


def test_a_question_that_was_passed_over_comes_last(leases):
    assert leases.take([5, 7], "ann") == 5
    leases.pass_over(5, "ann")
    assert leases.take([5, 7], "ann") == 7
    leases.pass_over(7, "ann")
    assert leases.take([5, 7], "ann") == 5
    leases.pass_over(5, "ann")
    assert leases.take([5, 7], "ann") == 7


def test_a_question_that_was_passed_over_is_free_for_others(leases):
    leases.take([5], "ann")
    leases.pass_over(5, "ann")
    assert leases.take([5], "bob") == 5


def test_the_time_on_screen_is_measured_for_the_holder_alone(leases, clock):
    leases.take([5], "ann")
    clock.now = 12.5
    assert leases.seconds_held(5, "ann") == 12.5
    assert leases.seconds_held(5, "bob") is None
    leases.take([5], "ann")
    assert leases.seconds_held(5, "ann") == 12.5


def test_an_undone_question_is_shown_to_the_same_person_again(leases):
    leases.take([5, 7], "ann")
    leases.pass_over(5, "ann")
    assert leases.take([5, 7], "ann") == 7
    leases.lease(5, "ann")
    assert leases.take([7, 5], "ann") == 5
    assert leases.take([7], "bob") == 7


def test_passing_over_a_question_does_not_take_it_from_somebody_else():
    leases = Leases()
    assert leases.take([1], "ann") == 1
    leases.pass_over(1, "bob")
    assert leases.is_held_by_other(1, "bob")
