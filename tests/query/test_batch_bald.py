"""BatchBALD selects rows by joint mutual information."""

from itertools import product

import numpy as np
import pytest
from scipy.special import entr

from conftest import make_quick
from imboost import Session, TableDetector
from imboost.errors import SettingError
from imboost.query import BatchBALD, Switch
from imboost.query.batch_bald import _draw, _joint_entropy, mutual_information, select_jointly
from imboost.session import Oracle, run_rounds

RNG = np.random.default_rng


class Members:
    def __init__(self, proba):
        self.proba = np.asarray(proba)

    def member_proba(self, X):
        return self.proba


def selected(proba, n, seed=0, candidates=None, **settings):
    strategy = BatchBALD(**settings)
    strategy.set_detector(Members(proba), None)
    n_rows = np.shape(proba)[1]
    rows = np.arange(n_rows) if candidates is None else candidates
    return strategy.select(np.zeros(n_rows), rows, n, RNG(seed)).tolist()


# Four members. Rows 0 to 9 are equal and split them into halves, row 10 into other halves with
# less certainty, and all members agree about rows 11 to 19.
DUPLICATES = np.full((4, 20), 0.3)
DUPLICATES[:, :10] = np.array([0.01, 0.01, 0.99, 0.99])[:, None]
DUPLICATES[:, 10] = [0.1, 0.9, 0.1, 0.9]


def test_it_avoids_duplicates_that_bald_would_select():
    bald = np.argsort(-mutual_information(DUPLICATES), kind="stable")[:2]
    assert bald.tolist() == [0, 1]
    assert selected(DUPLICATES, 2) == [0, 10]


def test_rows_about_which_members_disagree_come_before_uncertain_ones():
    proba = np.full((3, 5), 0.5)
    proba[:, 3] = [0.1, 0.9, 0.5]
    assert selected(proba, 1) == [3]


def exact_joint_entropy(proba):
    """The entropy of the labels of all rows, (members, rows), by enumeration."""
    total = 0.0
    for labels in product([0, 1], repeat=proba.shape[1]):
        each = np.where(np.array(labels) == 1, proba, 1 - proba).prod(axis=1)
        total += entr(each.mean())
    return total


def test_the_first_pair_maximises_the_joint_information():
    proba = RNG(4).random((5, 8))
    first, second = select_jointly(proba, 2, RNG(0))
    own = (entr(proba) + entr(1 - proba)).mean(axis=0)
    joint = {
        row: exact_joint_entropy(proba[:, [first, row]]) - own[first] - own[row]
        for row in range(8)
        if row != first
    }
    assert first == mutual_information(proba).argmax()
    assert second == max(joint, key=joint.get)


def test_sampled_configurations_estimate_the_exact_entropy():
    proba = RNG(5).random((4, 6)).clip(0.05, 0.95)
    member = np.arange(20_000) % 4
    likelihood = np.ones((20_000, 4))
    for row in range(5):
        is_outlier = RNG(row).random(20_000) < proba[member, row]
        likelihood *= np.where(is_outlier[:, None], proba[:, row], 1 - proba[:, row])
    [found] = _joint_entropy(likelihood, proba[:, 5:], is_sample=True)
    assert found == pytest.approx(exact_joint_entropy(proba), abs=0.02)


def test_the_joint_selection_ends_when_the_labels_determine_the_member():
    proba = np.full((2, 30), 0.5)
    proba[:, :10] = [[0.001], [0.999]]
    assert len(select_jointly(proba, 20, RNG(0))) < 5


def test_uncertain_labels_without_information_do_not_end_the_joint_selection():
    proba = np.repeat([[0.4], [0.6]], 20, axis=1)  # both members are uncertain of every row
    assert len(select_jointly(proba, 12, RNG(0))) == 12


def test_the_joint_selection_ends_when_no_row_adds_information():
    proba = np.tile(RNG(0).random(40), (3, 1))  # equal members
    assert select_jointly(proba, 20, RNG(0)) == []
    proba[:, 5] = [0.1, 0.1, 0.9]
    assert select_jointly(proba, 20, RNG(0)) == [5]
    assert selected(proba, 4)[0] == 5


def test_rows_without_information_are_drawn_at_random():
    proba = np.tile(RNG(0).random(40), (3, 1))
    batches = [selected(proba, 4, seed) for seed in range(20)]
    assert len({row for batch in batches for row in batch}) > 20


def test_sampled_configurations_cover_all_rows_selected_before():
    """Every kind of row finds out one member; all labels are nearly certain.

    Configurations are sampled from the tenth row on. If they left out rows selected before, a
    second row of the first kinds would seem to add information again.
    """
    n_kinds = 12
    each = np.full((n_kinds + 1, n_kinds), 0.001)
    each[range(n_kinds), range(n_kinds)] = 0.999
    proba = np.repeat(each, 2, axis=1)
    rows = select_jointly(proba, n_kinds, RNG(0))
    assert sorted(row // 2 for row in rows) == list(range(n_kinds))


def test_rows_are_drawn_in_proportion_to_their_mutual_information():
    information, rows, rng = np.array([0.1, 0.2, 0.5]), np.array([2, 0, 1]), RNG(0)
    drawn = [int(_draw(information, rows, 1, rng)[0]) for _ in range(4000)]
    frequencies = np.bincount(drawn, minlength=3) / 4000
    assert frequencies.tolist() == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.03)


def test_rows_beyond_the_joint_selection_are_drawn_by_their_own_information():
    rows = selected(DUPLICATES, 11, max_joint=2)
    assert rows[:2] == [0, 10]
    assert sorted(rows) == list(range(11))  # rows without mutual information would come last


def test_a_large_batch_takes_little_time_and_no_row_twice():
    proba = RNG(0).random((10, 50_000))
    rows = selected(proba, 20_000)
    assert len(set(rows)) == 20_000


def test_only_candidates_are_selected():
    assert selected(DUPLICATES, 3, candidates=np.array([4, 7, 15]))[0] in (4, 7)


def test_without_members_it_says_what_to_do(planted):
    with pytest.raises(SettingError, match="use it in a session"):
        BatchBALD().select(np.zeros(3), np.arange(3), 1, RNG(0))
    detector = make_quick("imboost").fit(planted.X)
    with pytest.raises(SettingError, match=r"IMBoost has no members .* n_members of at least 2"):
        detector.member_proba(planted.X)


@pytest.mark.parametrize(
    "query", ["batch-bald", Switch("rd", BatchBALD())], ids=["alone", "second"]
)
def test_a_session_with_one_network_is_refused_before_anything_is_trained(planted, query):
    detector = make_quick("imboost")
    for given in (detector, TableDetector(detector)):
        with pytest.raises(SettingError, match=r"has fewer than two: use .* with n_members=2"):
            Session(given, planted.X, query=query)
    Session(TableDetector(make_quick("imboost", n_members=2)), planted.X, query=query)


@pytest.mark.parametrize(
    "detector",
    [make_quick("imboost", n_members=3), make_quick("trees"), make_quick("stack")],
    ids=["imboost", "trees", "stack"],
)
def test_it_works_in_sessions_with_detectors_that_have_members(planted, detector):
    session = Session(detector, planted.X, query=Switch("rd", "batch-bald"), random_state=0)
    assert list(run_rounds(session, Oracle(planted.y), 2, 5)) == [0, 1, 2]
    proba = session.detector.member_proba(planted.X)
    assert proba.shape[0] >= 2
    assert proba.shape[1] == len(planted.X)
    assert ((proba >= 0) & (proba <= 1)).all()
    assert np.corrcoef(proba.mean(axis=0), session.detector.decision_scores_)[0, 1] > 0.5
    own = session.detector.predict_proba(planted.X)[:, 1]  # calibrated like those of members
    outliers = planted.y == 1
    assert abs(proba.mean(axis=0)[outliers].mean() - own[outliers].mean()) < 0.2
