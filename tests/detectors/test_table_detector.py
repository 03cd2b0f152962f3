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
def orders():
    return mixed_table(400, contamination=0.06, seed=0)


def quick(**settings):
    return TableDetector(make_quick("stack"), **settings)


@pytest.fixture(scope="module")
def fitted(orders):
    return quick().fit(orders.table)


def test_the_synthetic_table_has_all_kinds_of_columns_and_outliers(orders, fitted):
    roles = [str(column.role) for column in fitted.schema_]
    assert roles == ["identifier", *["numeric"] * 8, *["categorical"] * 4, *["datetime"] * 2]
    assert [(orders.kinds == kind).sum() for kind in KINDS] == [8, 8, 8]
    assert ((orders.kinds != "") == (orders.y == 1)).all()
    missing = [column.null_count / orders.table.num_rows for column in orders.table.columns[1:]]
    assert 0.05 < min(missing) <= max(missing) < 0.15
    for row in np.flatnonzero(orders.y):
        assert all(orders.table.column(name)[int(row)].is_valid for name in orders.cells[row])


@pytest.mark.parametrize("library", ["pandas", "polars", "csv", "parquet"])
def test_scores_do_not_depend_on_what_the_table_comes_in(orders, fitted, library, tmp_path):
    path = tmp_path / f"table.{library}"
    if library == "pandas":
        table = orders.table.to_pandas()
    elif library == "polars":
        table = pl.from_arrow(orders.table)
    elif library == "csv":
        pyarrow.csv.write_csv(orders.table, table := path)
    else:
        pyarrow.parquet.write_table(orders.table, table := path)
    scores = quick().fit(table).decision_scores_
    np.testing.assert_allclose(scores, fitted.decision_scores_, rtol=1e-6)
    np.testing.assert_allclose(fitted.decision_function(table), scores, rtol=1e-6)


def test_rows_may_be_scored_with_new_categories_and_missing_values_in_another_order(
    orders, fitted
):
    frame = orders.table.to_pandas().head(5)
    frame.loc[0, "region"] = "never seen"
    frame.loc[1, "amount"] = 1e12
    frame.loc[2] = None
    scores = fitted.decision_function(frame[frame.columns[::-1]])
    np.testing.assert_array_equal(scores, fitted.decision_function(frame))
    assert np.isfinite(scores).all()


def test_a_session_asks_about_the_rows_of_a_table(orders):
    session = Session(quick(), orders.table.to_pandas(), random_state=0)
    rows = session.ask(10)
    session.tell(rows, ["outlier" if orders.y[row] else "inlier" for row in rows])
    assert session.refine().round == 1
    assert len(set(rows) | set(session.ask(10))) == 20


@pytest.mark.parametrize("name", ["imboost", "trees"])
def test_other_detectors_take_tables_too(orders, name):
    detector = TableDetector(make_quick(name), contamination=0.06, random_state=1)
    detector.fit(orders.table, np.where(np.arange(400) < 50, orders.y, -1))
    assert np.isfinite(detector.decision_scores_).all()
    assert detector.predict(orders.table).mean() == pytest.approx(0.06, abs=0.01)
    assert detector.predict_proba(orders.table).shape == (400, 2)


def test_mistakes_are_refused(orders):
    with pytest.raises(UnknownNameError, match="Did you mean 'amount'"):
        quick(roles={"amuont": "numeric"}).fit(orders.table)
    with pytest.raises(UnknownNameError, match="Unknown scaling"):
        quick(scaling="standard").fit(orders.table)
    with pytest.raises(UnknownNameError, match="Unknown detector 'stuck'"):
        TableDetector("stuck").fit(orders.table)
    with pytest.raises(DataError, match="got dict"):
        to_arrow({"a": [1]})
    with pytest.raises(DataError, match="rows and columns"):
        to_arrow(np.zeros(3))
    with pytest.raises(DataError, match="several columns called 'a'"):
        to_arrow(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(DataError, match="Column 'a' mixes cells of the type list"):
        to_arrow(pd.DataFrame({"a": [1, "x", [2]]}))


def test_wrong_cells_are_among_the_first_two_reasons(orders, fitted):
    wrong = np.flatnonzero(orders.y)
    explained = fitted.explain(orders.table.take(wrong))
    named = [
        bool({reason.column for reason in explanation.reasons[:2]} & set(orders.cells[row]))
        for row, explanation in zip(wrong, explained, strict=True)
    ]
    assert np.mean(named) > 0.8


def test_reasons_sum_to_the_score_and_have_expected_values(orders, fitted):
    rows = orders.table.slice(0, 3)
    for explanation, score in zip(
        fitted.explain(rows), fitted.decision_function(rows), strict=True
    ):
        assert explanation.baseline + sum(
            reason.contribution for reason in explanation.reasons
        ) == pytest.approx(score)
        assert explanation.score == pytest.approx(score)
        by_column = {reason.column: reason for reason in explanation.reasons}
        assert set(by_column) == set(orders.table.column_names) - {"order_id"}
        assert by_column["amount"].expected > 0
        assert by_column["ordered"].expected > np.datetime64("2000-01-01")
        assert by_column["region"].expected.startswith("R")
        shares = [reason.contribution for reason in explanation.reasons]
        assert shares == sorted(shares, reverse=True)


def test_a_detector_that_cannot_explain_says_so(orders):
    detector = TableDetector(make_quick("trees"), random_state=0).fit(orders.table)
    with pytest.raises(IMBoostError, match="Trees cannot explain"):
        detector.explain(orders.table)


def test_a_detector_given_as_an_object_keeps_its_contamination(orders):
    own = make_quick("stack", contamination=0.02)
    assert TableDetector(own).fit(orders.table).labels_.sum() == 8
    assert TableDetector(own, contamination=0.1).fit(orders.table).labels_.sum() == 40
    assert TableDetector("stack")._new_detector().contamination == "auto"


@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba", "explain"])
def test_an_untrained_detector_says_so(orders, method):
    with pytest.raises(NotFittedError):
        getattr(TableDetector(), method)(orders.table)


def test_common_values_are_not_called_rare():
    rng = np.random.default_rng(0)
    kinds = rng.choice(["x", "y"], 500, p=[0.88, 0.12])
    table = pa.table({"a": rng.normal(size=500), "b": rng.normal(size=500), "kind": kinds})
    detector = TableDetector(make_quick("stack", contamination="auto"), random_state=0).fit(table)
    assert detector.labels_.mean() <= 0.2
    [found] = detector.reference_values_["kind"].locate(pa.chunked_array([["y"]]))
    assert found.share > 0.02


def test_reference_values_follow_the_threshold(orders, tmp_path):
    detector = TableDetector(make_quick("stack"), contamination=0.1).fit(orders.table)
    assert detector.reference_values_["region"].n_rows == 360
    detector.set_threshold(contamination=0.3)
    assert detector.reference_values_["region"].n_rows == 280
    detector.set_threshold(contamination=0.1)
    persistence.save(detector, tmp_path / "model")
    loaded = persistence.load(tmp_path / "model").set_threshold(contamination=0.3)
    assert loaded.labels_.sum() == 120
    assert loaded.reference_values_["region"].n_rows == 360  # the training table is not saved


def test_a_threshold_is_estimated_until_it_is_set_or_both_classes_are_labelled(orders):
    detector = TableDetector(make_quick("stack"), contamination="auto").fit(orders.table)
    assert detector.decision_.is_estimated
    assert not detector.set_threshold(contamination=0.1).decision_.is_estimated
    inliers = np.where(orders.y == 0, 0, -1)
    assert detector.refine(orders.table, inliers).decision_.is_estimated
    assert not detector.refine(orders.table, orders.y).decision_.is_estimated
    given = TableDetector(make_quick("stack"), contamination=0.1).fit(orders.table)
    assert not given.decision_.is_estimated


@pytest.mark.parametrize(
    "index", [["order_id"], ["region", "order_id"], None], ids=["named", "multi", "filtered"]
)
def test_rows_of_the_users_own_data_frame_are_scored_whatever_its_index(orders, index):
    frame = orders.table.to_pandas()
    frame = frame[frame.index % 2 == 1] if index is None else frame.set_index(index)
    detector = quick().fit(frame)
    rows = [5, 3, 8]
    scores = detector.decision_function(frame.iloc[rows])
    np.testing.assert_allclose(scores, detector.decision_scores_[rows], rtol=1e-6)
    assert [one.score for one in detector.explain(frame.iloc[rows])] == pytest.approx(scores)


def test_skewed_numbers_are_scaled_by_logarithms_where_cells_are_scored():
    rng = np.random.default_rng(0)
    price = rng.lognormal(7.0, 0.8, 200)
    numbers = pd.DataFrame({"price": price, "size": rng.normal(size=200)})
    mixed = numbers.assign(kind=rng.choice(["a", "b"], 200))

    def center(table, detector="stack", scaling="auto"):
        model = TableDetector(detector, scaling=scaling, random_state=0)
        model.fit(table)
        return model.encoder_.encoders["price"].scaling.center

    flags = numbers.assign(flag=rng.choice(["yes", "no"], 200))
    rules = numbers.assign(double=(2 * price).round(2), price=price.round(2))
    assert center(mixed) == center(flags) == center(rules) == 0.0
    assert center(numbers) == center(mixed, scaling="robust") == float(np.median(price))
    assert center(mixed, detector="trees") == float(np.median(price))


def test_a_broken_sum_ranks_before_the_rarest_correct_cells_and_repeated_rows():
    rng = np.random.default_rng(0)
    net, tax = rng.lognormal(4.0, 1.0, 600).round(2), rng.lognormal(2.0, 1.0, 600).round(2)
    table = pd.DataFrame({"net": net, "tax": tax, "total": (net + tax).round(2)})
    table["shop"] = rng.choice(["a", "b", "c"], 600)
    table.loc[7, "total"] += 3.0
    table.loc[300] = table.loc[100]
    scores = TableDetector(random_state=0).fit(table).decision_scores_
    ranks = (-scores).argsort().argsort()
    assert ranks[7] == 0
    assert 0 < min(ranks[[100, 300]]) < 12


def test_refine_takes_the_table_it_is_given_and_not_the_one_of_before(orders):
    detector = TableDetector(make_quick("stack"), random_state=0).fit(orders.table)
    turned = orders.table.take(np.arange(orders.table.num_rows)[::-1])
    with pytest.raises(ValueError, match="in the same order"):
        detector.refine(turned, orders.y)


def test_scores_do_not_depend_on_the_number_of_threads(orders, monkeypatch):
    monkeypatch.setattr("imboost.detectors.table_detector.CHUNK_ROWS", 100)
    monkeypatch.setattr("imboost.detectors.stack.detector.CHUNK_ROWS", 64)
    scores = [
        TableDetector(make_quick("stack", n_jobs=n_jobs), random_state=0)
        .fit(orders.table, orders.y)
        .decision_function(orders.table)
        for n_jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*scores)
