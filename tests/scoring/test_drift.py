"""Differences between a table and the training table."""

import pyarrow as pa
import pytest

from imboost import TableDetector
from imboost.present import wording
from imboost.scoring.drift import Drift
from imboost.scoring.pipeline import Summary, score_batches
from imboost.tables.parsers import CategoryParser, NumberParser


def test_a_column_that_was_constant_in_training_may_vary(tmp_path):
    table = pa.table(
        {"size": [1.0, 2.0, 3.0, 4.0] * 25, "unit": ["cm"] * 100, "note": ["x"] * 100}
    )
    detector = TableDetector("trees", roles={"note": "ignored"}).fit(table)
    drift = Drift.of_table(detector, table.set_column(1, "unit", pa.array(["cm", "inch"] * 50)))
    findings = {fact.column: wording.column_change(fact) for fact in drift.findings()}
    assert findings == {
        "unit": "not used: constant in training",
        "note": "not used: ignored",
    }
    assert drift.warnings() == []


def test_an_absent_column_is_said_to_be_needed_if_scores_depend_on_it():
    table = pa.table(
        {"size": [1.0, 2.0, 3.0, 4.0] * 25, "kind": ["a", "b"] * 50, "note": ["x"] * 100}
    )
    detector = TableDetector("trees", roles={"note": "ignored"}).fit(table)
    drift = Drift.of_table(detector, table.select(["kind"]))
    assert {fact.column: wording.column_change(fact) for fact in drift.findings()} == {
        "size": "not in this table; the model needs it",
        "note": "not in this table; the model does not need it",
    }


@pytest.mark.parametrize(
    ("n_rows", "n_missing", "is_warning"),
    [(100, 12, False), (100, 100, True), (1000, 160, True), (20, 4, False), (1000, 0, True)],
)
def test_a_fraction_of_missing_values_is_a_warning_if_it_differs_by_more_than_chance(
    n_rows, n_missing, is_warning
):
    sizes = [None, *range(1, 10)] * 20
    detector = TableDetector("trees").fit(pa.table({"size": sizes, "kind": ["a", "b"] * 100}))
    sizes = [None] * n_missing + [5] * (n_rows - n_missing)
    table = pa.table({"size": pa.array(sizes, pa.int64()), "kind": ["a"] * n_rows})
    drift = Drift.of_table(detector, table)
    assert [finding.column for finding in drift.warnings()] == ["size"] * is_warning


@pytest.mark.parametrize(("n_words", "is_warning"), [(10, False), (40, True)])
def test_unreadable_cells_are_a_warning_if_they_are_more_than_in_training(n_words, is_warning):
    numbers = [f"{row / 3:.2f}" for row in range(90)]
    detector = TableDetector("trees").fit(
        pa.table({"size": numbers + 10 * ["-"], "kind": ["a", "b"] * 50})
    )
    cells = numbers[: 100 - n_words] + n_words * ["-"]
    drift = Drift.of_table(detector, pa.table({"size": cells, "kind": ["a"] * 100}))
    assert bool(drift.warnings()) == is_warning


def test_batches_count_as_one_table():
    rows = {"size": [1.0, None, 3.0, 4.0] * 25, "kind": ["a", "b", "c", None] * 25}
    detector = TableDetector("trees").fit(pa.table(rows))
    table = pa.table({"size": ["1.5", "many", None, "2"], "kind": ["a", "x", None, "y"]})
    summary = Summary()
    batches = score_batches(detector, [table.slice(0, 1), table.slice(1, 3)])
    assert sum(len(batch.predictions.scores) for batch in summary.counted(batches)) == 4
    assert summary.changes == Drift.of_table(detector, table).changes
    assert summary.changes["unreadable"] == {"size": 1, "kind": 0}
    assert summary.changes["unseen"] == {"kind": 2}


def test_cells_are_parsed_once(monkeypatch):
    table = pa.table({"size": [1.5, 2.5] * 50, "kind": ["a", "b"] * 50})
    detector = TableDetector("stack", random_state=0).fit(table)
    parsed = []

    def parse(parser, cells):
        parsed.append(type(parser).__name__)
        return once[type(parser)](parser, cells)

    once = {kind: kind.parse for kind in (NumberParser, CategoryParser)}
    for kind in once:
        monkeypatch.setattr(kind, "parse", parse)
    list(score_batches(detector, [table]))
    assert sorted(parsed) == ["CategoryParser", "NumberParser"]
