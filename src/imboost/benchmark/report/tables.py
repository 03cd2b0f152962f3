"""The tables of a report: summary, differences, queries, settings, times, gaps."""

from __future__ import annotations

import math
from collections.abc import Sequence

from imboost.benchmark.analysis.ablation_tables import AblationTable
from imboost.benchmark.analysis.comparison import Interval, paired_interval
from imboost.benchmark.analysis.coverage import Gap
from imboost.benchmark.analysis.method_tables import MethodTable, is_tabular
from imboost.benchmark.paper import paper_round_deviations, paper_rounds
from imboost.benchmark.report.matrices import row_name
from imboost.benchmark.report.study import Study
from imboost.reporting import Column, Table
from imboost.reporting.formatting import Value

MAX_NAMED = 4
"""More methods than these are named by those that are not among them, where that is shorter."""


def summary_table(study: Study) -> Table:
    """Return one row a method, the best first; the paper's columns only where it has figures."""
    kinds = {
        "tables": [group for group in study.shared if is_tabular(group)],
        "embeddings": [group for group in study.shared if not is_tabular(group)],
    }
    split = kinds if all(kinds.values()) else {}
    has_paper = any(table.key.paper_column for table in study.methods)
    ranking = study.rankings["test_auc"]
    columns = [
        Column("method"),
        Column("sets", "count"),
        Column("seeds", "count"),
        *_metric_columns("AUC", has_paper=has_paper),
        *(Column(f"AUC, {kind}", "figure") for kind in split),
        Column("mean rank", "number"),
        Column("wins", "number"),
        *_metric_columns("AP", has_paper=has_paper),
        Column("seconds per run", "number"),
        Column(f"AUC against {study.reference.name}"),
    ]
    rows: list[list[Value]] = [
        [
            table.name,
            len(table.sets),
            _span([own.cells["test_auc"].n_seeds for own in table.sets.values()]),
            *_metric_values(study, table, "test_auc", has_paper=has_paper),
            *(table.mean("test_auc", groups) for groups in split.values()),
            rank,
            wins,
            *_metric_values(study, table, "test_ap", has_paper=has_paper),
            sum(line.seconds for line in table.runs.values()) / len(table.runs),
            verdict(study.gains[table.name]) if table.name in study.gains else "",
        ]
        for table, rank, wins in zip(study.methods, ranking.ranks, ranking.wins, strict=True)
    ]
    return Table(columns, rows, marked=study.reference.name)


def _metric_columns(name: str, *, has_paper: bool) -> list[Column]:
    own = [Column(f"test {name}", "figure")]
    papers = [Column(f"paper {name}", "figure"), Column(f"{name} difference", "signed")]
    return [*own, *papers] if has_paper else own


def _metric_values(
    study: Study, table: MethodTable, metric: str, *, has_paper: bool
) -> list[float]:
    groups = study.shared or list(table.sets)
    own = [table.mean(metric, groups)]
    papers = [table.paper_mean(metric, groups), table.mean_difference(metric, groups)]
    return [*own, *papers] if has_paper else own


def gain_table(study: Study) -> Table:
    """Return the differences of every method to the reference, with their intervals."""
    columns = [Column("method"), *_interval_columns("difference"), Column("so it is")]
    rows = [[n, *_interval(gain), verdict(gain)] for n, gain in study.gains.items()]
    return Table(columns, rows)


def query_table(study: Study) -> Table:
    """Return IMBoost's query strategies round by round (tables C.6 and C.7)."""
    columns = [
        Column("query"),
        Column("round", "count"),
        Column("test AUC", "figure"),
        Column("± seeds", "figure"),
        Column("paper", "figure"),
        Column("± seeds, paper", "figure"),
        Column("difference", "signed"),
    ]
    rows: list[list[Value]] = []
    for table in study.queries:
        is_plain = table.key.is_plain
        papers = paper_rounds(table.key.query) if is_plain else {}
        deviations = paper_round_deviations(table.key.query) if is_plain else {}
        for number, cell in table.mean_curve(study.query_sets).items():
            paper = papers.get(number)
            gap = None if paper is None else cell.mean - paper
            spread = deviations.get(number)
            rows.append([table.key.query, number, cell.mean, cell.deviation, paper, spread, gap])
    return Table(columns, rows)


def ablation_table(table: AblationTable) -> Table:
    """Return what one setting does (tables C.8 to C.12)."""
    columns = [
        Column(table.ablation.symbol),
        Column("test AUC", "figure"),
        Column("± seeds", "figure"),
        Column("paper", "figure"),
        *_interval_columns("minus default")[1:],
    ]
    rows = [
        [
            f"{row.value:g}",
            row.cell.mean if row.cell else None,
            row.cell.deviation if row.cell else None,
            row.paper,
            *_interval(row.gain)[1:],
        ]
        for row in table.rows
    ]
    return Table(columns, rows, marked=f"{table.ablation.default:g}")


def time_table(study: Study) -> Table:
    """Return running times as ratios to the reference's (table C.13)."""
    machines = {(time.device, time.host) for time in study.times}
    columns = [
        Column("method"),
        Column("device"),
        *([Column("machine")] if len(machines) > 1 else []),
        Column("runs", "count"),
        Column("seconds", "number"),
        Column(f"seconds of {study.reference.name}", "number"),
        Column("ratio", "ratio"),
        Column("paper", "ratio"),
    ]
    rows = [
        [
            t.key.name,
            t.device,
            *([t.host] if len(machines) > 1 else []),
            t.n_runs,
            t.seconds,
            t.base_seconds,
            t.ratio,
            t.paper,
        ]
        for t in study.times
    ]
    return Table(columns, rows, marked=study.reference.name)


def set_table(study: Study, method: MethodTable) -> Table:
    """Return one method set by set, test figures with deviations."""
    metrics = {"AUC": "test_auc", "AP": "test_ap"}
    columns = [Column("data set"), Column("seeds", "count")]
    for name in metrics:
        columns += [
            Column(f"test {name}", "figure"),
            Column(f"{name} ± seeds", "figure"),
            Column(f"paper {name}", "figure"),
            Column(f"{name} difference", "signed"),
        ]
    columns.append(Column("seconds per run", "number"))
    rows = []
    for group, own in method.sets.items():
        row: list[Value] = [row_name(study, group), own.cells["test_auc"].n_seeds]
        for metric in metrics.values():
            cell = own.cells[metric]
            row += [cell.mean, cell.deviation, cell.paper, cell.difference]
        rows.append([*row, own.seconds])
    return Table(columns, rows)


def variant_table(study: Study) -> Table:
    """Return methods under other protocols beside the same under the main one."""
    columns = [Column("method"), *_interval_columns("difference to the main protocol")]
    columns.insert(1, Column("test AUC", "figure"))
    rows: list[list[Value]] = []
    for table in study.variants:
        usual = study.tables.get(table.key.under(study.protocol))
        gain = paired_interval(table, usual, "test_auc") if usual else None
        rows.append([table.name, table.mean("test_auc", table.sets), *_interval(gain)])
    return Table(columns, rows)


def gap_table(study: Study) -> Table:
    """Return the data sets left out of means and ranks, and who lacks them why."""
    reasons = ("skipped", "failed", "not run")
    names = [table.name for table in study.methods]
    columns = [Column("data set"), *(Column(reason, "prose") for reason in reasons)]
    rows: list[list[Value]] = [
        [gap.group, *(_named(gap, reason, names) for reason in reasons)]
        for gap in study.coverage.gaps
    ]
    return Table(columns, rows)


def trouble_table(study: Study) -> Table:
    """Return the runs without a result, those with the same reason together."""
    columns = [
        Column("status"),
        Column("runs", "count"),
        Column("reason", "prose"),
        Column("which", "prose"),
    ]
    rows: list[list[Value]] = [
        [t.status, t.n_runs, t.reason, "; ".join(t.where)] for t in study.troubles
    ]
    return Table(columns, rows)


def verdict(gain: Interval) -> str:
    """Say what an interval of differences means."""
    if math.isnan(gain.low):
        return "too few data sets"
    if not gain.excludes_zero:
        return "not distinguishable"
    return "better" if gain.mean > 0 else "worse"


def _interval_columns(name: str) -> list[Column]:
    return [
        Column("sets", "count"),
        Column(name, "signed"),
        Column("95 % from", "signed"),
        Column("to", "signed"),
    ]


def _interval(gain: Interval | None) -> list[Value]:
    return [None] * 4 if gain is None else [gain.n, gain.mean, gain.low, gain.high]


def _named(gap: Gap, reason: str, names: Sequence[str]) -> str:
    lacking = gap.lacking.get(reason, [])
    others = [name for name in names if name not in lacking]
    if len(lacking) > MAX_NAMED and not others:
        return "all"
    if len(lacking) > MAX_NAMED and len(others) < len(lacking):
        return f"all but {', '.join(others)}"
    return ", ".join(lacking)


def _span(counts: list[int]) -> str:
    """Write equal counts as one number, others as a range."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
