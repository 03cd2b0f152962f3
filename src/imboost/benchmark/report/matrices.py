"""The paper's tables C.2 to C.5: every method on every data set."""

from __future__ import annotations

import math
from collections.abc import Sequence

from imboost.benchmark.analysis.method_tables import Cell, MethodTable
from imboost.benchmark.report.study import Study
from imboost.reporting import Column, Matrix, Table, format_value
from imboost.reporting.formatting import Kind

PAPER_TABLES = {
    "test_auc": ("C.4", "test AUC"),
    "test_ap": ("C.5", "test AP"),
    "train_auc": ("C.2", "training AUC"),
    "train_ap": ("C.3", "training AP"),
}
"""Number in the paper and name of the table of every metric, the one that matters most first."""

_SCALES = {"auc": (0.5, 1.0), "ap": (0.0, 1.0)}
_DIFFERENCES = (0.0, 0.3)
"""Shaded values: chance to perfect; no difference to a large one."""


def figure_matrix(study: Study, metric: str) -> Matrix:
    """Return our figures, and below them what compares the methods on the shared sets."""
    methods = [*study.methods, *study.coverage.too_few]
    return Matrix(
        corner="data set",
        columns=[table.name for table in methods],
        rows=[row_name(study, group) for group in study.groups],
        values=[[_value(table, group, metric) for table in methods] for group in study.groups],
        feet=_feet(study, metric),
        scale=_SCALES[metric.rpartition("_")[2]],
        hints=[[_hint(table, group, metric) for table in methods] for group in study.groups],
    )


def _feet(study: Study, metric: str) -> dict[str, tuple[Kind, list[float | None]]]:
    """Return the rows that compare methods; those that are not ranked have nothing there."""
    ranking, shared = study.rankings[metric], study.shared
    rows: dict[str, tuple[Kind, Sequence[float]]] = {
        "mean": ("figure", [table.mean(metric, shared) for table in study.methods]),
        "deviation over seeds": (
            "figure",
            [table.deviation(metric, shared) for table in study.methods],
        ),
        "mean of the paper": (
            "figure",
            [table.paper_mean(metric, shared) for table in study.methods],
        ),
        "mean rank": ("number", ranking.ranks),
        "wins": ("number", ranking.wins),
    }
    blanks = [None] * len(study.coverage.too_few)
    return {
        name: (kind, [*values, *blanks])
        for name, (kind, values) in rows.items()
        if not all(math.isnan(value) for value in values)
    }


def difference_matrix(study: Study, metric: str) -> Matrix | None:
    """Return our figures minus the paper's; None if it has none of these methods and sets."""
    methods = [table for table in study.methods if table.key.paper_column]
    rows = [g for g in study.groups if any(_difference(m, g, metric) is not None for m in methods)]
    if not rows:
        return None
    gaps = [table.mean_difference(metric, study.shared) for table in methods]
    return Matrix(
        corner="data set",
        columns=[table.name for table in methods],
        rows=[row_name(study, group) for group in rows],
        values=[[_difference(table, group, metric) for table in methods] for group in rows],
        feet={"mean": ("signed", gaps)},
        scale=_DIFFERENCES,
        kind="signed",
    )


def tidy_figures(study: Study) -> Table:
    """Return everything that the matrices hold, one line a method, data set and metric."""
    columns = [
        Column("method"),
        Column("data set"),
        Column("parts", "count"),
        Column("metric"),
        Column("mean", "figure"),
        Column("deviation", "figure"),
        Column("seeds", "count"),
        Column("paper", "figure"),
        Column("difference", "signed"),
        Column("seconds per run", "number"),
    ]
    rows = [
        [
            table.name,
            group,
            len(own.parts),
            metric,
            cell.mean,
            cell.deviation,
            cell.n_seeds,
            cell.paper,
            cell.difference,
            own.seconds,
        ]
        for table in study.tables.values()
        for group, own in table.sets.items()
        for metric, cell in own.cells.items()
    ]
    return Table(columns, rows)


def row_name(study: Study, group: str) -> str:
    """Name a data set, its parts if there are several, and a star if it is not shared."""
    counts = {len(t.sets[group].parts) for t in study.tables.values() if group in t.sets}
    low, high = min(counts), max(counts)
    parts = f" ({high if low == high else f'{low} to {high}'} parts)" if high > 1 else ""
    return group + parts + ("" if group in study.shared else " *")


def _cell(table: MethodTable, group: str, metric: str) -> Cell | None:
    return table.sets[group].cells[metric] if group in table.sets else None


def _value(table: MethodTable, group: str, metric: str) -> float | None:
    cell = _cell(table, group, metric)
    return None if cell is None else cell.mean


def _difference(table: MethodTable, group: str, metric: str) -> float | None:
    cell = _cell(table, group, metric)
    return None if cell is None else cell.difference


def _hint(table: MethodTable, group: str, metric: str) -> str:
    """Return what a pointer over a number shows."""
    cell = _cell(table, group, metric)
    if cell is None:
        return f"{table.name}: no result"
    seeds = f"± {format_value(cell.deviation, 'figure')}, {cell.n_seeds} seeds"
    spread = seeds if cell.n_seeds > 1 else "one seed"
    paper = "" if cell.paper is None else f"; paper {format_value(cell.paper, 'figure')}"
    return f"{table.name}, {group}: {format_value(cell.mean, 'figure')} ({spread}){paper}"
