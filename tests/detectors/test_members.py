"""The probabilities of a detector's members, by which query strategies find disagreement."""

from dataclasses import dataclass

import numpy as np
import pytest

from conftest import DEEP, make_quick
from imboost import TableDetector
from imboost.detectors import DETECTORS
from imboost.detectors.base import BaseDetector
from imboost.errors import DataError, SettingError
from imboost.labels import unlabelled

WITH_MEMBERS = [make_quick("imboost", n_members=2), make_quick("trees"), make_quick("stack")]


@dataclass(kw_only=True, eq=False, repr=False)
class FirstColumn(BaseDetector):
    """Scores rows by their first column; one of the members does the same, one the opposite."""

    def _fit(self, X, labels):
        pass

    def _score_rows(self, X):
        return X[:, 0]

    def _member_scores(self, X):
        return np.exp(X[:, 0]), -X[:, 0]


def labelled(planted, n_known=60):
    labels = unlabelled(len(planted.y))
    labels[:n_known] = planted.y[:n_known]
    return labels


@pytest.mark.parametrize("detector", WITH_MEMBERS, ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("in_table", [False, True])
def test_only_the_training_rows_have_probabilities_of_members(planted, detector, in_table):
    detector = TableDetector(detector) if in_table else detector
    detector.fit(planted.X, labelled(planted))
    assert detector.member_proba(planted.X).shape[1] == 300
    with pytest.raises(DataError, match=r"rows given to fit: expected 300, got 7"):
        detector.member_proba(planted.X[:7])
    with pytest.raises(DataError, match="rows given to fit, in the same order"):
        detector.member_proba(planted.X[::-1])


def test_members_have_the_calibration_of_the_detector(planted):
    detector = FirstColumn().fit(planted.X, (planted.X[:, 0] > 0).astype(int))
    same, opposite = detector.member_proba(planted.X)
    own = detector.predict_proba(planted.X)[:, 1]
    assert own.max() > 0.9  # about 0.7 without the labels
    np.testing.assert_allclose(same, own)
    assert np.corrcoef(opposite, own)[0, 1] < -0.5


def test_equal_votes_of_a_group_of_trees_are_ordered_by_the_unsupervised_rank(planted):
    detector = make_quick("trees").fit(planted.X, labelled(planted))
    proba = detector.member_proba(planted.X)
    assert len(proba) == 20  # one tree each, whose votes are 0 or 1
    assert min(len(np.unique(own)) for own in proba) > 20


@pytest.mark.parametrize(
    ("name", "settings"),
    [(name, {}) for name in sorted(DETECTORS)]
    + [(name, {"n_members": 2}) for name in DEEP]
    + [("trees", {"n_trees": 1}), ("altbi", {"averaged_epochs": 1})]
    + [("stack", {"base_learners": ("linear",)}), ("stack", {"unsupervised_scores": ("knn",)})],
    ids=str,
)
def test_has_members_says_in_advance_whether_there_are_any(planted, name, settings):
    detector = make_quick(name, **settings)
    has_members, n_members = detector.has_members, []
    for labels in (None, labelled(planted)):
        detector.fit(planted.X, labels)
        try:
            n_members.append(len(detector.member_proba(planted.X)))
        except SettingError:
            n_members.append(0)
    assert has_members == (min(n_members) >= 2)
