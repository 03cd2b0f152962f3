"""Differences between a table and the training table."""

import pyarrow as pa
import pytest

from imboost import TableDetector
from imboost.present import wording
from imboost.scoring.drift import DriftMonitor


def test_a_column_that_was_constant_in_training_may_vary(tmp_path):
    table = pa.table(
        {"size": [1.0, 2.0, 3.0, 4.0] * 25, "unit": ["cm"] * 100, "note": ["x"] * 100}
    )
    detector = TableDetector("trees", roles={"note": "ignored"}).fit(table)
    monitor = DriftMonitor(detector)
    monitor.add(table.set_column(1, "unit", pa.array(["cm", "inch"] * 50)))
    findings = {fact.column: wording.column_change(fact) for fact in monitor.findings()}
    assert findings == {
        "unit": "not used: constant in training",
        "note": "not used: ignored",
    }
    assert monitor.warnings() == []


@pytest.mark.parametrize(
    ("n_rows", "n_missing", "is_warning"),
    [(100, 12, False), (100, 100, True), (1000, 160, True), (20, 4, False), (1000, 0, True)],
)
def test_a_fraction_of_missing_values_is_a_warning_if_it_differs_by_more_than_chance(
    n_rows, n_missing, is_warning
):
    sizes = [None, *range(1, 10)] * 20
    detector = TableDetector("trees").fit(pa.table({"size": sizes, "kind": ["a", "b"] * 100}))
    monitor = DriftMonitor(detector)
    sizes = [None] * n_missing + [5] * (n_rows - n_missing)
    monitor.add(pa.table({"size": pa.array(sizes, pa.int64()), "kind": ["a"] * n_rows}))
    assert [finding.column for finding in monitor.warnings()] == ["size"] * is_warning


@pytest.mark.parametrize(("n_words", "is_warning"), [(10, False), (40, True)])
def test_unreadable_cells_are_a_warning_if_they_are_more_than_in_training(n_words, is_warning):
    numbers = [f"{row / 3:.2f}" for row in range(90)]
    detector = TableDetector("trees").fit(
        pa.table({"size": numbers + 10 * ["-"], "kind": ["a", "b"] * 50})
    )
    monitor = DriftMonitor(detector)
    cells = numbers[: 100 - n_words] + n_words * ["-"]
    monitor.add(pa.table({"size": cells, "kind": ["a"] * 100}))
    assert bool(monitor.warnings()) == is_warning
