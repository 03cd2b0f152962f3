"""A distilled detector scores as its teacher does, and is a detector like any other."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone

from conftest import make_quick
from imboost import TableDetector, persistence
from imboost.datasets.orders import mixed_table
from imboost.detectors import Distilled
from imboost.detectors.distilled import UNSEEN, TeacherAgreement, _split_rows, draw_rows
from imboost.errors import DataError, DistillationError, SettingError
from imboost.tables.layout import Kind, Layout
from imboost.tables.schema import Schema


@pytest.fixture(scope="module", autouse=True)
def _short_training():
    """Train students on fewer drawn rows, for fewer updates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imboost.detectors.distilled.N_DRAWN", 16_000)
        patch.setattr("imboost.training.distillation.N_UPDATES", 1500)
        yield


@pytest.fixture(scope="module")
def orders():
    return mixed_table(900, contamination=0.03)


@pytest.fixture(scope="module")
def teacher(orders):
    y = np.where(np.arange(900) < 200, orders.y, -1)
    return TableDetector(make_quick("stack")).fit(orders.table, y)


@pytest.fixture(scope="module")
def student(orders, teacher):
    return teacher.distill(orders.table)


@pytest.fixture(scope="module")
def matrix_teacher(planted):
    return make_quick("stack").fit(planted.X, np.where(np.arange(300) < 100, planted.y, -1))


@pytest.fixture(scope="module")
def matrix_student(planted, matrix_teacher):
    return matrix_teacher.distill(planted.X)


def test_new_rows_are_ranked_as_by_the_teacher(teacher, student):
    new = mixed_table(600, contamination=0.03, seed=1)
    scores = [detector.decision_function(new.table) for detector in (teacher, student)]
    assert spearmanr(*scores)[0] > 0.6
    assert abs(scores[0] - scores[1]).mean() < 0.05


def test_threshold_and_calibration_are_the_teachers(orders, teacher, student):
    assert student.threshold_ == teacher.threshold_
    scores = np.linspace(0.01, 0.99, 5)
    probability = student.decision_.probability(scores)
    np.testing.assert_array_equal(probability, teacher.decision_.probability(scores))
    found = student.decision_function(orders.table)
    np.testing.assert_array_equal(student.decision_scores_, found)
    np.testing.assert_array_equal(student.labels_, found > teacher.threshold_)


def test_the_agreement_is_that_of_held_out_rows(orders, teacher, student):
    agreement = student.detector_.agreement_
    assert agreement.n_rows == 180
    assert 0 < agreement.n_labelled < 180
    assert "rank correlation 0." in str(agreement)


def test_labelled_rows_are_used_first_and_shared_by_class(orders, teacher, monkeypatch):
    monkeypatch.setattr("imboost.detectors.distilled.MAX_ROWS", 100)
    labels = np.full(900, -1)
    labels[::15] = np.arange(60) < 10
    agreement = teacher.distill(orders.table, labels, check=False).detector_.agreement_
    assert (agreement.n_rows, agreement.n_labelled) == (20, 12)
    assert np.isfinite(agreement.auc_lost)


@pytest.mark.parametrize("n_labelled", [0, 100, 5000])
def test_one_row_in_five_of_every_class_is_held_out(n_labelled, monkeypatch):
    monkeypatch.setattr("imboost.detectors.distilled.MAX_ROWS", 1000)
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.where(np.arange(5000) < n_labelled, 0, -1))
    labels[rng.permutation(np.flatnonzero(labels == 0))[: n_labelled // 10]] = 1
    held_out, training = _split_rows(labels.astype(np.int8), rng)
    assert (len(held_out), len(training)) == (200, 800)
    assert len({*held_out, *training}) == 1000
    assert (labels[held_out] >= 0).sum() == min(n_labelled, 1000) // 5
    n_outliers = (labels[held_out] == 1).sum()
    assert (n_outliers > 0) == (n_labelled > 0)
    assert (labels[training] == 1).sum() == pytest.approx(4 * n_outliers, abs=4)


def test_scores_do_not_depend_on_batches_order_or_time(planted, matrix_teacher, matrix_student):
    scores = matrix_student.decision_function(planted.X)
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_array_equal(
        matrix_student.decision_function(planted.X[order]), scores[order]
    )
    for size in (1, 7, 256):
        parts = [planted.X[start : start + size] for start in range(0, 300, size)]
        found = np.concatenate([matrix_student.decision_function(part) for part in parts])
        np.testing.assert_array_equal(found, scores)
    again = matrix_teacher.distill(planted.X)
    np.testing.assert_array_equal(again.decision_function(planted.X), scores)


def test_missing_values_are_scored(planted, matrix_student):
    X = planted.X.copy()
    X[0], X[1, 2], X[2] = np.nan, np.nan, 1e300
    assert np.isfinite(matrix_student.decision_function(X)).all()


def test_a_student_is_saved_and_loaded(orders, student, tmp_path):
    persistence.save(student, tmp_path / "model")
    loaded = persistence.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.decision_function(orders.table), student.decision_function(orders.table)
    )
    assert loaded.model_name == "Distilled(Stack)"
    assert str(loaded.detector_.agreement_) == str(student.detector_.agreement_)


def test_a_loaded_teacher_can_be_distilled(orders, teacher, student, tmp_path):
    persistence.save(teacher, tmp_path / "model")
    again = persistence.load(tmp_path / "model").distill(orders.table)
    np.testing.assert_array_equal(again.decision_scores_, student.decision_scores_)


def test_another_table_may_be_given(teacher):
    student = teacher.distill(mixed_table(500, seed=3).table, check=False)
    assert student.detector_.agreement_.n_labelled == 0
    np.testing.assert_array_equal(student.decision_scores_, teacher.decision_scores_)


def test_a_student_is_not_trained_further(planted, matrix_student):
    message = "distilled detector cannot be trained"
    with pytest.raises(SettingError, match=message):
        Distilled().fit(planted.X)
    with pytest.raises(SettingError, match=message):
        matrix_student.refine(planted.X, planted.y)
    assert isinstance(clone(matrix_student), Distilled)


def test_explanations_are_left_to_the_teacher(orders, student):
    with pytest.raises(SettingError, match="use the model it was distilled from"):
        student.explain(orders.table)


def test_only_stack_is_distilled(orders):
    detector = TableDetector(make_quick("trees")).fit(orders.table)
    with pytest.raises(SettingError, match="Trees cannot be distilled: only Stack can"):
        detector.distill(orders.table)


def test_a_few_rows_are_too_few(planted, matrix_teacher):
    with pytest.raises(DataError, match="at least 10 rows, got 9"):
        matrix_teacher.distill(planted.X[:9])


def test_a_student_that_ranks_otherwise_is_refused(planted, matrix_teacher, monkeypatch):
    monkeypatch.setattr("imboost.training.distillation.N_UPDATES", 2)
    with pytest.raises(DistillationError, match=r"rank correlation .* is required"):
        matrix_teacher.distill(planted.X)
    student = matrix_teacher.distill(planted.X, check=False)
    with pytest.raises(DistillationError, match="rank correlation"):
        student.agreement_.check()


def test_a_student_that_loses_the_highest_scores_is_refused():
    teacher = np.linspace(0, 1, 2000)
    student = teacher.copy()
    student[-20:] = teacher[:20]
    agreement = TeacherAgreement.measure(teacher, student, np.full(2000, -1), 0.5)
    assert agreement.rank_correlation > 0.9
    with pytest.raises(DistillationError, match="keeps 0% of the highest 20 of 2,000 scores"):
        agreement.check()


def test_lost_auc_and_ap_are_those_of_labelled_rows():
    labels = np.array([0, 0, 1, 1, -1])
    agreement = TeacherAgreement.measure(
        np.array([0.1, 0.2, 0.8, 0.9, 0.5]), np.array([0.1, 0.85, 0.8, 0.9, 0.5]), labels, 0.5
    )
    assert agreement.auc_lost == 0.25
    assert agreement.ap_lost == pytest.approx(1 - (1 + 2 / 3) / 2)
    assert agreement.decisions_kept == 0.8
    assert "on 4 labelled rows AUC -0.250, AP -0.167" in str(agreement)


def test_drawn_rows_differ_from_the_table_and_have_unseen_categories():
    table = pa.table({"a": np.arange(50.0), "b": ["x", "y"] * 25})
    schema, cells = Schema.fit_parse(table, {"a": "numeric"})
    seen = []

    def encode(drawn):
        seen.extend(drawn["b"].to_pylist())
        return np.column_stack([drawn["a"], np.asarray(drawn["b"]) == "x"])

    layout = Layout.of_numbers(["a", "b"])
    rows = draw_rows(cells, encode, layout, np.zeros(50), 400, np.random.default_rng(0))
    assert rows.shape == (400, 2)
    assert UNSEEN in seen
    assert rows[:, 0].max() > 60  # outside the range of the table
    assert not np.isin(rows[:, 0], table["a"]).all()
    assert len(schema.columns) == layout.n_of_kind(Kind.NUMERIC)


def test_the_student_of_a_weighted_teacher_counts_the_rows_of_the_large_table(
    planted, matrix_teacher
):
    teacher = matrix_teacher.copy()
    weights = np.where(teacher.decision_scores_ > np.median(teacher.decision_scores_), 1.0, 99.0)
    teacher.refine(planted.X, planted.y, weights=weights)
    student = teacher.distill(planted.X, check=False)
    student.set_threshold(contamination=0.005)
    predicted = student.decision_scores_ > student.threshold_
    assert 0 < weights[predicted].sum() <= 0.01 * weights.sum()


def test_a_student_of_few_rows_that_loses_all_highest_scores_is_refused():
    teacher = np.linspace(0, 1, 300)
    student = np.append(teacher[:-10], np.zeros(10))
    found = TeacherAgreement.measure(teacher, student, np.full(300, -1), 0.5)
    with pytest.raises(DistillationError, match="of the highest 10 of 300 scores"):
        found.check()


@pytest.mark.parametrize("name", ["rank_correlation", "top_kept", "decisions_kept"])
@pytest.mark.parametrize("value", [float("nan"), 1.1])
def test_an_agreement_holds_no_impossible_figure(matrix_student, name, value):
    with pytest.raises(ValueError, match="must be numbers in range"):
        replace(matrix_student.agreement_, **{name: value})
