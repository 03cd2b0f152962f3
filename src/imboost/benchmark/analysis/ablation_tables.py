"""What IMBoost makes of other settings, beside the paper's tables C.8 to C.12."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from imboost.benchmark.analysis.comparison import Interval, paired_interval
from imboost.benchmark.analysis.coverage import MIN_SHARE
from imboost.benchmark.analysis.method_key import IMBOOST, MethodKey
from imboost.benchmark.analysis.method_tables import Cell, MethodTable, Run, method_tables
from imboost.benchmark.run.ablation import ABLATIONS, Ablation
from imboost.benchmark.run.protocol import RoundResult
from imboost.benchmark.run.settings import Settings


@dataclass(frozen=True)
class AblationRow:
    """One value of the setting.

    Parameters
    ----------
    value : float
    paper : float, optional
        The paper's mean test AUC, if it tried the value.
    cell : Cell, optional
        Ours, if there are enough runs.
    gain : Interval, optional
        How far it lies above the default value.
    """

    value: float
    paper: float | None
    cell: Cell | None = None
    gain: Interval | None = None


@dataclass(frozen=True)
class AblationTable:
    """All values of one setting, over the data sets and seeds that they share."""

    ablation: Ablation
    rows: list[AblationRow]
    n_sets: int
    n_runs: int

    @property
    def is_measured(self) -> bool:
        """Whether a value has figures of ours."""
        return any(row.cell for row in self.rows)


def changed_value(key: MethodKey) -> tuple[Ablation, float] | None:
    """Return the ablation a method belongs to and its value; None for any other method."""
    values = Settings.from_line(key.settings).values
    if len(values) != 1 or MethodKey(key.detector, key.query, key.protocol) != IMBOOST:
        return None
    [(setting, value)] = values
    for ablation in ABLATIONS.values():
        if setting == ablation.setting and isinstance(value, int | float):
            return (ablation, value) if value != ablation.default else None
    return None


def ablation_tables(lines: Iterable[RoundResult]) -> list[AblationTable]:
    """Return a table for every ablation with runs; the default value is IMBoost's plain runs."""
    lines = [line for line in lines if line.status == "ok"]
    tables = {table.key: table for table in method_tables(lines)}
    found = []
    for ablation in ABLATIONS.values():
        by_value = {}
        for key, table in tables.items():
            changed = changed_value(key)
            if changed and changed[0] is ablation:
                by_value[changed[1]] = table
        if by_value:
            found.append(_ablation_table(ablation, by_value, tables.get(IMBOOST), lines))
    return found


def _ablation_table(
    ablation: Ablation,
    by_value: dict[float, MethodTable],
    plain: MethodTable | None,
    lines: list[RoundResult],
) -> AblationTable:
    values, runs = _shared_runs(by_value)
    if plain and len(plain.runs.keys() & runs) >= MIN_SHARE * len(runs):
        values[ablation.default] = plain
        runs = runs & plain.runs.keys()
    keys = {table.key: value for value, table in values.items()}
    fair = [li for li in lines if MethodKey.of(li) in keys and (li.dataset, li.seed) in runs]
    restricted = {keys[table.key]: table for table in method_tables(fair)}
    default = restricted.get(ablation.default)
    groups = {line.group for line in fair}
    rows = []
    for value in sorted({*ablation.paper, *by_value}):
        paper = ablation.paper.get(value)
        table = restricted.get(value)
        if table is None:
            rows.append(AblationRow(value, paper))
            continue
        mean = table.mean("test_auc", groups)
        cell = Cell(mean, table.deviation("test_auc", groups), paper=paper)
        is_other = default is not None and table is not default
        gain = paired_interval(table, default, "test_auc") if default and is_other else None
        rows.append(AblationRow(value, paper, cell, gain))
    return AblationTable(ablation, rows, len(groups), len(runs))


def _shared_runs(
    by_value: dict[float, MethodTable],
) -> tuple[dict[float, MethodTable], set[Run]]:
    """Return the values with enough runs to count, and the runs that all of these have."""
    wanted = MIN_SHARE * max(len(table.runs) for table in by_value.values())
    counted = {value: table for value, table in by_value.items() if len(table.runs) >= wanted}
    return counted, set.intersection(*(set(table.runs) for table in counted.values()))
