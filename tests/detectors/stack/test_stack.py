"""Stack, its experts and how they are heard."""

import numpy as np
import pytest
from imboost.detectors.stack.forest import mean_of_trees
from imboost.detectors.stack.learner_roles import EXPERTS
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
)
from sklearn.metrics import roc_auc_score

from conftest import make_quick
from imboost.detectors.stack import base_learners as experts
from imboost.detectors.stack.base_learners import (
    ForestExpert,
    LinearExpert,
    ResidualProcess,
    ViewExpert,
    pool_weights,
)
from imboost.detectors.stack.detector import Stack
from imboost.detectors.stack.pca import Rotation
from imboost.detectors.stack.priors import crowding_of, view_trust
from imboost.detectors.stack.unsupervised import Surroundings
from imboost.errors import IMBoostError
from imboost.tables.layout import Feature, Kind, Layout

NO_ANSWERS = np.zeros(0, dtype=np.int8)
ALIKE = np.array([0.5, 0.5])
NO_OPINION = np.zeros(0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_without_answers_views_are_trusted_as_they_were_at_the_start(rng):
    views = rng.normal(size=(50, 2))
    judged = ViewExpert(views[:0], NO_ANSWERS, np.array([0.8, 0.2]), 0.5).judge(views)
    np.testing.assert_array_equal(np.argsort(judged), np.argsort(views @ [0.8, 0.2]))
    assert np.median(judged) < 0.5


def test_answers_move_the_trust_to_the_view_that_was_right(rng):
    views = rng.normal(size=(60, 2))
    answers = (views[:, 0] > 0.5).astype(np.int8)
    expert = ViewExpert(views, answers, ALIKE, 0.5)
    by_right, by_wrong = expert.judge(np.array([[2.0, 0.0], [0.0, 2.0]]))
    assert by_right > by_wrong + 0.3


def test_a_view_that_misleads_loses_its_trust(rng):
    views = np.abs(rng.normal(size=(20, 1)))
    before = ViewExpert(views[:0], NO_ANSWERS, np.ones(1), 0.5).judge(np.array([[2.0]]))
    after = ViewExpert(views, np.zeros(20, dtype=np.int8), np.ones(1), 0.5).judge(
        np.array([[2.0]])
    )
    assert after < before / 2


def test_the_trust_in_views_is_the_likeliest_even_where_they_are_far_out(rng):
    views = np.where(rng.random((6, 5)) < 0.5, 10.0, 9.0)
    answers = np.array([1, 1, 1, 1, 1, 0], dtype=np.int8)
    trust = np.full(5, 0.2)
    coefficients = ViewExpert(views, answers, trust, 0.5)._coefficients
    inputs = np.column_stack([np.ones(6), views])
    misfit = inputs.T @ (1 / (1 + np.exp(-inputs @ coefficients)) - answers)
    prior = (coefficients - [-2.0, *(1.5 * trust)]) / np.array([1.0, *[0.5] * 5]) ** 2
    np.testing.assert_allclose(misfit + prior, 0, atol=1e-6)


def test_a_view_experts_held_out_opinions_are_those_without_the_row(rng):
    views = rng.normal(size=(40, 2))
    answers = (views[:, 0] + rng.normal(size=40) > 1).astype(np.int8)
    held_out = ViewExpert(views, answers, ALIKE, 0.5).held_out
    for row in range(40):
        others = np.arange(40) != row
        without = ViewExpert(views[others], answers[others], ALIKE, 0.5).judge(views[[row]])
        assert held_out[row] == pytest.approx(without[0], abs=0.02)


def test_a_forest_holds_out_what_it_was_told(rng):
    features = rng.normal(size=(80, 3))
    noise = rng.integers(0, 2, 80).astype(np.int8)
    expert = ForestExpert(features, noise, 100, 0)
    assert roc_auc_score(noise, expert.judge(features, NO_OPINION)) > 0.95  # it knows these rows
    assert roc_auc_score(noise, expert.held_out) < 0.7  # and does not boast of it


def test_searching_trees_find_the_one_column_that_tells(rng):
    features = rng.normal(size=(300, 40))
    answers = (features[:, 7] > 1).astype(np.int8)
    random, searching = (ForestExpert(features, answers, 50, 0, kind) for kind in (False, True))
    assert roc_auc_score(answers, searching.held_out) > 0.95
    assert roc_auc_score(answers, searching.held_out) > roc_auc_score(answers, random.held_out)


def test_a_row_that_every_tree_saw_is_held_out_by_the_share_of_outliers():
    answers = np.array([0, 1, 1, 1], dtype=np.int8)
    expert = ForestExpert(np.arange(4.0)[:, None], answers, 1, 0)
    seen = ~np.isin(expert.held_out, (0.02, 0.98))
    assert seen.any()
    np.testing.assert_allclose(expert.held_out[seen], 0.75)


def test_a_linear_expert_holds_out_what_it_was_told(rng):
    features = rng.normal(size=(40, 30))
    noise = rng.integers(0, 2, 40).astype(np.int8)
    expert = LinearExpert(features, noise, 0)
    assert roc_auc_score(noise, expert.judge(features, NO_OPINION)) > 0.95
    assert roc_auc_score(noise, expert.held_out) < 0.7


def test_a_linear_expert_with_one_outlier_holds_out_the_share_of_outliers(rng):
    answers = np.array([1, 0, 0, 0], dtype=np.int8)
    expert = LinearExpert(rng.normal(size=(4, 2)), answers, 0)
    np.testing.assert_allclose(expert.held_out, 0.25)


def test_the_process_leaves_the_first_opinion_alone_far_from_all_answers(rng):
    places = rng.normal(size=(30, 2))
    answers = (places[:, 0] > 0).astype(np.int8)
    process = ResidualProcess(places, answers, np.full(30, 0.2), np.full(30, 0.2), 0)
    assert process.judge(np.array([[500.0, 0.0]]), np.array([0.2])) == pytest.approx(0.2)


def test_the_process_corrects_the_first_opinion_near_answers(rng):
    places = rng.normal(size=(60, 2))
    answers = (places[:, 0] > 0).astype(np.int8)
    process = ResidualProcess(places, answers, np.full(60, 0.2), np.full(60, 0.2), 0)
    right, left = process.judge(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.2, 0.2]))
    assert right > 0.7
    assert left < 0.15


def test_the_processs_held_out_opinions_are_those_without_the_row(rng, monkeypatch):
    monkeypatch.setattr(experts, "LENGTH_SCALES", (1.0,))
    monkeypatch.setattr(experts, "NOISES", (0.3,))
    places = rng.normal(size=(12, 2))
    answers = rng.integers(0, 2, 12).astype(np.int8)
    first, unaware = rng.uniform(0.3, 0.7, (2, 12))
    process = ResidualProcess(places, answers, first, unaware, 0)
    kernel = np.exp(-process._precision * np.square(places[:, None] - places).sum(-1))
    for row in range(12):
        others = np.arange(12) != row
        weights = np.linalg.solve(
            kernel[np.ix_(others, others)] + 0.3 * np.eye(11), (answers - first)[others]
        )
        expected = unaware[row] + kernel[row, others] @ weights
        assert process.held_out[row] == pytest.approx(np.clip(expected, 0.02, 0.98))


def test_the_process_learns_from_a_part_of_many_answers(rng, monkeypatch):
    monkeypatch.setattr(experts, "MAX_PROCESS_ROWS", 20)
    places = rng.normal(size=(90, 2))
    answers = (places[:, 0] > 0).astype(np.int8)
    process = ResidualProcess(places, answers, np.full(90, 0.2), np.full(90, 0.2), 0)
    assert len(process._places) == 20
    assert roc_auc_score(answers, process.held_out) > 0.8


def test_the_pool_hears_the_expert_that_was_right():
    answers = np.array([0, 1] * 20, dtype=np.int8)
    right, wrong = np.where(answers == 1, 0.9, 0.1), np.where(answers == 1, 0.1, 0.9)
    weights = pool_weights(np.column_stack([right, wrong]), answers, np.ones(2))
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0.9


def test_the_pool_starts_from_what_was_trusted_before():
    answers = np.array([0, 1], dtype=np.int8)
    alike = np.full((2, 3), 0.5)
    weights = pool_weights(alike, answers, np.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(weights, [0.25, 0.25, 0.5])


def test_wrong_answers_are_contradicted_most(planted):
    labels = np.full(len(planted.y), -1)
    labels[:100] = planted.y[:100]
    labels[planted.y == 1] = 1
    wrong = np.flatnonzero(planted.y[:100] == 0)[:4]
    labels[wrong] = 1
    opinion = Stack(random_state=0).fit(planted.X, labels).out_of_fold_proba_
    np.testing.assert_array_equal(np.isnan(opinion), labels == -1)
    gap = np.abs(np.nan_to_num(opinion - labels))
    assert set(np.argsort(-gap)[:4]) == set(wrong)


def test_answers_of_one_kind_change_the_trust_in_the_views(planted):
    detector = make_quick("stack").fit(planted.X)
    before = detector.decision_scores_
    labels = np.full(len(planted.X), -1)
    labels[np.argsort(-before)[:20]] = 0  # all that looked odd is usual
    after = detector.refine(planted.X, labels).decision_scores_
    assert after.max() < before.max()


def test_the_experts_are_known_once_both_kinds_are(planted):
    detector = make_quick("stack").fit(planted.X)
    assert len(detector.weights_) == 0
    detector.refine(planted.X, np.where(np.arange(300) % 3, planted.y, -1))
    assert detector.weights_.keys() == set(EXPERTS)
    assert roc_auc_score(planted.y, detector.decision_scores_) > 0.95
    assert len(detector.fit(planted.X).weights_) == 0


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"experts": ("liner",)}, "Did you mean 'linear'"),
        ({"experts": ()}, "experts must name at least one of searching, components"),
        ({"looks": ("loneliness",)}, "looks must name at least one of isolation"),
        ({"looks": ("isolation", "nearness")}, "Unknown name in looks 'nearness'"),
        ({"n_neighbors": ()}, "n_neighbors must be a tuple of at least one number"),
        ({"n_neighbors": 5}, "n_neighbors must be a tuple of at least one number, got 5"),
        ({"experts": "linear"}, "experts must be a tuple of different names, got 'linear'"),
        ({"experts": ("linear", "linear")}, "experts must be a tuple of different names"),
        ({"start_trust": 1e308}, "start_trust must be above 0 and at most 1e.12"),
        ({"start_trust": 0.0}, "start_trust must be above 0"),
        ({"view_freedom": -1.0}, "view_freedom must be at least 0"),
    ],
)
def test_a_wrong_setting_of_stack_is_named(planted, settings, error):
    with pytest.raises(IMBoostError, match=error):
        make_quick("stack", **settings).fit(planted.X)


@pytest.mark.parametrize("expert", EXPERTS)
def test_every_expert_learns_alone(planted, expert):
    detector = make_quick("stack", experts=(expert,)).fit(planted.X)
    detector.refine(planted.X, np.where(np.arange(300) % 3, planted.y, -1))
    assert detector.weights_ == {expert: 1.0}
    assert roc_auc_score(planted.y, detector.decision_scores_) > 0.9


def test_without_freedom_answers_do_not_move_the_trust_in_views(rng):
    views = rng.normal(size=(60, 2))
    answers = (views[:, 0] > 0.5).astype(np.int8)
    by_one, by_other = ViewExpert(views, answers, ALIKE, freedom=0.0).judge(
        np.array([[2.0, 0.0], [0.0, 2.0]])
    )
    assert by_one == pytest.approx(by_other, abs=1e-3)


def test_with_much_trust_at_the_start_all_experts_stay_heard(planted):
    detector = make_quick("stack", start_trust=1e9).fit(planted.X)
    detector.refine(planted.X, np.where(np.arange(300) % 3, planted.y, -1))
    crowding = crowding_of(planted.X)
    expected = dict.fromkeys(EXPERTS, 2 - 1.5 * crowding)
    expected |= {"process": 4 * crowding, "views": 8 * crowding**2}
    total = sum(expected.values())
    assert detector.weights_ == pytest.approx({n: share / total for n, share in expected.items()})


def test_a_wide_table_with_gaps_scores_row_by_row_as_at_once(rng):
    table = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 80)) + rng.normal(size=(150, 80))
    table[rng.random(table.shape) < 0.1] = np.nan
    names = [str(number) for number in range(80)]
    detector = make_quick("stack").fit(table, layout=Layout.of_numbers(names))
    at_once = detector.decision_function(table)
    np.testing.assert_allclose(at_once, detector.decision_scores_, atol=1e-6)
    one_by_one = [detector.decision_function(row[None])[0] for row in table[:30]]
    np.testing.assert_allclose(one_by_one, at_once[:30], atol=1e-6)


def test_trees_say_on_average_what_their_forest_says(rng):
    table = rng.normal(size=(200, 4))
    levels = np.digitize(table[:, 0], [-1, 1])
    for forest in (ExtraTreesClassifier(9), RandomForestClassifier(9)):
        forest.fit(table, levels)
        np.testing.assert_array_equal(mean_of_trees(forest, table), forest.predict_proba(table))
    numbers = ExtraTreesRegressor(9).fit(table, table[:, 0])
    np.testing.assert_allclose(mean_of_trees(numbers, table)[:, 0], numbers.predict(table))


def test_a_row_among_closer_ones_is_lonely():
    grid = np.stack(np.meshgrid(np.linspace(0, 0.1, 8), np.linspace(0, 0.1, 8)), -1).reshape(-1, 2)
    table = np.vstack([grid, [[0.5, 0.5]], [[1.0, 1.0]] * 30])
    _, loneliness = Surroundings(table, 5, 40, 1000, 0).neighbours(table, (5, 40))
    assert loneliness[64] > 5
    assert loneliness[:64].max() < 2
    np.testing.assert_allclose(loneliness[65:], 1.0)  # all in one place


def test_what_the_components_leave_is_large_off_their_plane(rng):
    plane = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))
    rotation = Rotation(plane, 2)
    on_it, off_it = rotation.rest(np.vstack([plane[0], plane[0] + rng.normal(size=6)]))
    assert off_it > 20 * on_it


@pytest.mark.parametrize("shape", [(60, 8), (20, 50)])
def test_components_are_those_of_principal_component_analysis(rng, shape):
    places = rng.normal(size=shape) * np.linspace(1, 3, shape[1])
    known = PCA(4).fit(places)
    others = rng.normal(size=(5, shape[1]))
    found = Rotation(places, 4).components(others)
    np.testing.assert_allclose(np.abs(found), np.abs(known.transform(others)), rtol=1e-4)


def test_what_is_left_of_a_row_of_a_wide_table_is_what_all_its_components_leave(rng):
    places = rng.normal(size=(12, 40))
    known = PCA(5).fit(places)
    left = places - known.inverse_transform(known.transform(places))
    found = Rotation(places, 1, n_explaining=5).rest(places)
    np.testing.assert_allclose(found, np.square(left).sum(axis=1), rtol=1e-5)


def test_the_rest_counts_more_the_more_cells_tell_rows_apart():
    looks = {
        "isolation": np.zeros((9, 1)),
        "distances": np.zeros((9, 3)),
        "rest": np.zeros((9, 1)),
    }
    few, many = (view_trust(looks, crowding) for crowding in (0.01, 0.9))
    assert few.sum() == pytest.approx(1)
    assert few[-1] < few[0] / 5
    assert many[-1] > many[0]


def test_columns_that_mostly_hold_one_value_do_not_crowd_a_table(rng):
    numbers, words = rng.normal(size=(200, 100)), rng.random((200, 1000)) < 0.01
    assert crowding_of(numbers) == pytest.approx(0.5, abs=0.01)
    assert crowding_of(words.astype(float)) < 0.1


def test_a_category_crowds_a_table_as_one_cell(rng):
    is_first = rng.random(300) < 0.3
    plain = np.column_stack([rng.normal(size=(300, 2)), is_first])
    features = [*Layout.of_numbers(["a", "b"]).features, Feature("c", Kind.CATEGORICAL, 2, 4)]
    encoded = np.column_stack([plain, ~is_first]).astype(float)
    as_table = make_quick("stack").fit(encoded, layout=Layout(tuple(features)))
    assert as_table._crowding == pytest.approx(crowding_of(plain))


def test_settings_that_change_after_fitting_do_not_break_scoring(planted):
    detector = make_quick("stack").fit(planted.X)
    before = detector.decision_function(planted.X)
    detector.set_params(n_neighbors=(5,), looks=("isolation",))
    np.testing.assert_array_equal(detector.decision_function(planted.X), before)
    with pytest.raises(IMBoostError, match="Unknown name in experts"):
        detector.set_params(experts=("foo",)).refine(planted.X, planted.y)


@pytest.mark.parametrize(
    "more",
    [lambda X: X[:, :1], lambda X: X.sum(axis=1, keepdims=True), lambda X: 3 * X + 1],
    ids=["a column twice", "a total", "columns in proportion"],
)
def test_columns_that_follow_from_others_do_not_make_scores_depend_on_the_batch(planted, more):
    table = np.hstack([planted.X, more(planted.X)])
    detector = make_quick("stack").fit(table, np.where(np.arange(300) % 3, planted.y, -1))
    one_by_one = [detector.decision_function(row[None])[0] for row in table[:50]]
    np.testing.assert_array_equal(detector.decision_function(table)[:50], one_by_one)


def test_each_expert_looks_at_its_own_aspect_of_rows(planted):
    detector = make_quick("stack").fit(planted.X, planted.y)
    aspects = detector._training
    n_columns, n_looks = planted.X.shape[1], 6
    widths = {name: getattr(aspects, role.aspect).shape[1] for name, role in EXPERTS.items()}
    assert widths == {
        "searching": n_columns + n_looks,
        "components": n_columns + n_looks + n_columns,
        "linear": n_columns + n_looks - 1,
        "process": n_columns,
        "views": n_looks - 1,
    }
    assert np.abs(aspects.coordinates[:, -5:]).max() <= 5
    ranks = np.sort(aspects.ranks[:, 0])
    np.testing.assert_allclose(ranks, -ranks[::-1], atol=1e-9)
