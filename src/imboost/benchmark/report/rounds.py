"""The compared methods round by round, on the data sets that all of them have."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from imboost.benchmark.analysis.comparison import paired_interval
from imboost.benchmark.analysis.method_key import MethodKey
from imboost.benchmark.analysis.method_tables import MethodTable, method_tables
from imboost.benchmark.report.study import Study
from imboost.benchmark.run.protocol import RoundResult
from imboost.reporting import Column, Table
from imboost.reporting.formatting import Value

Stages = dict[str, dict[str, MethodTable]]
"""By the name of a column, the methods by name, as if that were what their runs ended with."""


def round_tables(study: Study) -> dict[str, Table]:
    """Return the means of every round, and the others minus the reference, by file name."""
    stages = _stages(study)
    return {
        f"round_by_round_{name}{suffix}": make(study, stages, f"test_{name}")
        for name in ("auc", "ap")
        for suffix, make in (("", _figure_table), ("_differences", _difference_table))
    }


def _figure_table(study: Study, stages: Stages, metric: str) -> Table:
    columns = [Column("method"), *(Column(name, "figure") for name in stages)]
    rows: list[list[Value]] = [
        [method.name, *(own[method.name].mean(metric, study.shared) for own in stages.values())]
        for method in study.methods
        if stages
    ]
    return Table(columns, rows, marked=study.reference.name)


def _difference_table(study: Study, stages: Stages, metric: str) -> Table:
    reference = study.reference.name
    columns = [Column("method"), Column("sets", "count")]
    for name in stages:
        columns += [Column(name, "signed"), Column(f"± {name}", "margin")]
    rows: list[list[Value]] = []
    for method in study.methods:
        gains = [
            paired_interval(own[method.name], own[reference], metric) for own in stages.values()
        ]
        if method is not study.reference and any(gain.n for gain in gains):
            figures = [figure for gain in gains for figure in (gain.mean, gain.half_width)]
            rows.append([method.name, gains[-1].n, *figures])
    return Table(columns, rows)


def _stages(study: Study) -> Stages:
    """Return the methods after each round that all runs have, and on average from round 1 on."""
    runs = finished_runs(study, study.methods)
    numbers = sorted(set.intersection(*(set(run) for run in runs))) if runs else []
    stages = {f"round {number}": _methods(run[number] for run in runs) for number in numbers}
    later = [number for number in numbers if number]
    if later:
        name = f"mean of rounds {later[0]} to {later[-1]}"
        stages[name] = _methods(_mean_line([run[number] for number in later]) for run in runs)
    return stages


def finished_runs(study: Study, methods: Iterable[MethodTable]) -> list[dict[int, RoundResult]]:
    """Return the lines by round of every run of methods behind the means of the summary."""
    keys, shared = {table.key for table in methods}, set(study.shared)
    runs: dict[tuple[object, ...], dict[int, RoundResult]] = defaultdict(dict)
    for line in study.lines:
        is_known = line.status == "ok" and not math.isnan(line.test_auc)
        if is_known and line.group in shared and MethodKey.of(line) in keys:
            runs[line.identity][line.round] = line
    return [run for run in runs.values() if any(line.ends_run for line in run.values())]


def _methods(lines: Iterable[RoundResult]) -> dict[str, MethodTable]:
    """Condense one line of every run as if it were the last."""
    ends = (replace(line, round=line.rounds) for line in lines)
    return {table.name: table for table in method_tables(ends)}


def _mean_line(lines: Sequence[RoundResult]) -> RoundResult:
    return replace(
        lines[-1],
        test_auc=fmean(line.test_auc for line in lines),
        test_ap=fmean(line.test_ap for line in lines),
    )
