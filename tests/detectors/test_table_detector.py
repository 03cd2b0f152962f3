"""Tables of any kind in, scores out."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.exceptions import NotFittedError

from conftest import make_quick
from imboost import Session, TableDetector, persistence
from imboost.datasets.orders import KINDS, mixed_table
from imboost.errors import DataError, IMBoostError, UnknownNameError
from imboost.tables.frames import to_arrow


@pytest.fixture(scope="module")
def made():
    return mixed_table(400, contamination=0.06, seed=0)


def quick(**settings):
    return TableDetector(make_quick("stack"), **settings)


@pytest.fixture(scope="module")
def fitted(made):
    return quick().fit(made.table)


def test_the_made_up_table_has_all_kinds_of_columns_gaps_and_outliers(made, fitted):
    roles = [str(column.role) for column in fitted.schema_]
    assert roles == ["identifier", *["numeric"] * 8, *["categorical"] * 4, *["datetime"] * 2]
    assert [(made.kinds == kind).sum() for kind in KINDS] == [8, 8, 8]
    assert ((made.kinds != "") == (made.y == 1)).all()
    missing = [column.null_count / made.table.num_rows for column in made.table.columns[1:]]
    assert 0.05 < min(missing) <= max(missing) < 0.15
    for row in np.flatnonzero(made.y):
        assert all(made.table.column(name)[int(row)].is_valid for name in made.cells[row])


@pytest.mark.parametrize("library", ["pandas", "polars", "csv", "parquet"])
def test_scores_do_not_depend_on_what_the_table_comes_in(made, fitted, library, tmp_path):
    path = tmp_path / f"table.{library}"
    if library == "pandas":
        table = made.table.to_pandas()
    elif library == "polars":
        table = pl.from_arrow(made.table)
    elif library == "csv":
        pyarrow.csv.write_csv(made.table, table := path)
    else:
        pyarrow.parquet.write_table(made.table, table := path)
    scores = quick().fit(table).decision_scores_
    np.testing.assert_allclose(scores, fitted.decision_scores_, rtol=1e-6)
    np.testing.assert_allclose(fitted.decision_function(table), scores, rtol=1e-6)


def test_rows_may_be_scored_with_new_levels_and_gaps_in_another_order(made, fitted):
    frame = made.table.to_pandas().head(5)
    frame.loc[0, "region"] = "never seen"
    frame.loc[1, "amount"] = 1e12
    frame.loc[2] = None
    scores = fitted.decision_function(frame[frame.columns[::-1]])
    np.testing.assert_array_equal(scores, fitted.decision_function(frame))
    assert np.isfinite(scores).all()


def test_a_session_asks_about_the_rows_of_a_table(made):
    session = Session(quick(), made.table.to_pandas(), random_state=0)
    rows = session.ask(10)
    session.tell(rows, ["outlier" if made.y[row] else "inlier" for row in rows])
    assert session.refine().round == 1
    assert len(set(rows) | set(session.ask(10))) == 20


@pytest.mark.parametrize("name", ["imboost", "trees"])
def test_other_detectors_take_tables_too(made, name):
    detector = TableDetector(make_quick(name), contamination=0.06, random_state=1)
    detector.fit(made.table, np.where(np.arange(400) < 50, made.y, -1))
    assert np.isfinite(detector.decision_scores_).all()
    assert detector.predict(made.table).mean() == pytest.approx(0.06, abs=0.01)
    assert detector.predict_proba(made.table).shape == (400, 2)


def test_mistakes_are_told(made):
    with pytest.raises(UnknownNameError, match="Did you mean 'amount'"):
        quick(roles={"amuont": "numeric"}).fit(made.table)
    with pytest.raises(UnknownNameError, match="Unknown scaling"):
        quick(scaling="standard").fit(made.table)
    with pytest.raises(UnknownNameError, match="Unknown detector 'stuck'"):
        TableDetector("stuck").fit(made.table)
    with pytest.raises(DataError, match="got dict"):
        to_arrow({"a": [1]})
    with pytest.raises(DataError, match="rows and columns"):
        to_arrow(np.zeros(3))
    with pytest.raises(DataError, match="several columns called 'a'"):
        to_arrow(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(DataError, match="do not fit together"):
        to_arrow(pd.DataFrame({"a": [1, "x", [2]]}))


def test_wrong_cells_are_among_the_first_two_reasons(made, fitted):
    wrong = np.flatnonzero(made.y)
    explained = fitted.explain(made.table.take(wrong))
    named = [
        bool({reason.column for reason in told.reasons[:2]} & set(made.cells[row]))
        for row, told in zip(wrong, explained, strict=True)
    ]
    assert np.mean(named) > 0.8


def test_reasons_sum_to_the_score_and_say_what_is_usual(made, fitted):
    rows = made.table.slice(0, 3)
    for told, score in zip(fitted.explain(rows), fitted.decision_function(rows), strict=True):
        assert told.baseline + sum(
            reason.contribution for reason in told.reasons
        ) == pytest.approx(score)
        assert told.score == pytest.approx(score)
        by_column = {reason.column: reason for reason in told.reasons}
        assert set(by_column) == set(made.table.column_names) - {"order_id"}
        assert float(by_column["amount"].expected) > 0
        assert by_column["ordered"].expected[:2] == "20"
        assert by_column["region"].expected.startswith("R")
        shares = [reason.contribution for reason in told.reasons]
        assert shares == sorted(shares, reverse=True)


def test_a_detector_that_cannot_explain_says_so(made):
    detector = TableDetector(make_quick("trees"), random_state=0).fit(made.table)
    with pytest.raises(IMBoostError, match="Trees cannot explain"):
        detector.explain(made.table)


def test_a_detector_with_settings_of_its_own_keeps_its_share_of_outliers(made):
    own = make_quick("stack", contamination=0.02)
    assert TableDetector(own).fit(made.table).labels_.sum() == 8
    assert TableDetector(own, contamination=0.1).fit(made.table).labels_.sum() == 40
    assert TableDetector("stack")._new_detector().contamination == "auto"


@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba", "explain"])
def test_an_untrained_detector_says_so(made, method):
    with pytest.raises(NotFittedError):
        getattr(TableDetector(), method)(made.table)


def test_values_that_many_rows_have_are_not_called_unheard_of():
    rng = np.random.default_rng(0)
    kinds = rng.choice(["x", "y"], 500, p=[0.88, 0.12])
    table = pa.table({"a": rng.normal(size=500), "b": rng.normal(size=500), "kind": kinds})
    detector = TableDetector(make_quick("stack", contamination="auto"), random_state=0).fit(table)
    assert detector.labels_.mean() <= 0.2
    [(percentile, _)] = detector.reference_values_["kind"].locate(pa.chunked_array([["y"]]))
    assert percentile > 0.02


def test_reference_values_follow_the_threshold(made, tmp_path):
    detector = TableDetector(make_quick("stack"), contamination=0.1).fit(made.table)
    assert detector.reference_values_["region"].n_rows == 360
    detector.set_threshold(contamination=0.3)
    assert detector.reference_values_["region"].n_rows == 280
    detector.calibrate(detector.training_labels_)
    assert detector.reference_values_["region"].n_rows == 360
    persistence.save(detector, tmp_path / "model")
    loaded = persistence.load(tmp_path / "model").set_threshold(contamination=0.3)
    assert loaded.labels_.sum() == 120
    assert loaded.reference_values_["region"].n_rows == 360  # the training table is not saved


def test_a_threshold_is_estimated_until_it_is_set_or_both_classes_are_labelled(made):
    detector = TableDetector(make_quick("stack"), contamination="auto").fit(made.table)
    assert detector.threshold_is_estimated_
    assert not detector.set_threshold(contamination=0.1).threshold_is_estimated_
    inliers = np.where(made.y == 0, 0, -1)
    assert detector.refine(made.table, inliers).threshold_is_estimated_
    assert not detector.refine(made.table, made.y).threshold_is_estimated_
    given = TableDetector(make_quick("stack"), contamination=0.1).fit(made.table)
    assert not given.threshold_is_estimated_


@pytest.mark.parametrize(
    "index", [["order_id"], ["region", "order_id"], None], ids=["named", "multi", "filtered"]
)
def test_rows_of_the_users_own_data_frame_are_scored_whatever_its_index(made, index):
    frame = made.table.to_pandas()
    frame = frame[frame.index % 2 == 1] if index is None else frame.set_index(index)
    detector = quick().fit(frame)
    rows = [5, 3, 8]
    scores = detector.decision_function(frame.iloc[rows])
    np.testing.assert_allclose(scores, detector.decision_scores_[rows], rtol=1e-6)
    assert [one.score for one in detector.explain(frame.iloc[rows])] == pytest.approx(scores)
