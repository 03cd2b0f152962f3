"""Which answer about a row counts."""

from datetime import UTC, datetime, timedelta

import pytest

from imboost.session import Answer
from imboost.session.consensus import consensus
from imboost.session.log import Answered

START = datetime(2026, 1, 1, tzinfo=UTC)


def answers(*given):
    """Return answers of (person, answer) or (person, answer, "resolves"), a second apart."""
    times = [START + timedelta(seconds=number) for number in range(len(given))]
    return [
        Answered(0, Answer(answer), 0, who, when, resolves=bool(resolves))
        for when, (who, answer, *resolves) in zip(times, given, strict=True)
    ]


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ([("ann", "unsure"), ("bob", "skip")], 1),  # nobody decided: the last one
        ([("ann", "inlier"), ("bob", "inlier")], 1),
        ([("ann", "inlier"), ("bob", "unsure")], 0),
        ([("ann", "inlier"), ("bob", "outlier")], None),
        ([("ann", "inlier"), ("bob", "outlier"), ("ann", "outlier")], 2),
        ([("ann", "inlier"), ("bob", "outlier"), ("eve", "inlier", "resolves")], 2),
        ([("ann", "inlier", "resolves"), ("bob", "outlier", "resolves")], 1),
        ([("ann", "inlier", "resolves"), ("bob", "outlier")], None),
    ],
)
def test_the_answer_that_counts(given, counted):
    entries = answers(*given)
    assert consensus(entries) is (None if counted is None else entries[counted])
