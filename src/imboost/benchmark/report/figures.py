"""The figures of a report, as SVG texts."""

from __future__ import annotations

from collections import Counter

from imboost.benchmark.analysis.comparison import alike
from imboost.benchmark.analysis.method_tables import MethodTable
from imboost.benchmark.paper import paper_rounds
from imboost.benchmark.report.study import FAMILY_ORDER, Study
from imboost.reporting import (
    Mark,
    Panel,
    learning_curves,
    mark_rows,
    rank_line,
    setting_panels,
    small_multiples,
)
from imboost.reporting.canvas import COLOURS

MAX_TIMES = 8
"""Bars that a panel of running times has room for."""


def mean_figure(study: Study) -> str:
    """Draw the mean test AUC of all methods, family by family, as the paper's figure 3."""
    best_first = list(dict.fromkeys(table.key.family for table in study.methods))
    ordered = sorted(study.methods, key=lambda table: best_first.index(table.key.family))
    marks = []
    for table in ordered:
        mean = table.mean("test_auc", study.shared)
        deviation = table.deviation("test_auc", study.shared)
        has_paper = any(table.sets[g].cells["test_auc"].paper is not None for g in study.shared)
        marks.append(
            Mark(
                table.name,
                mean,
                mean - deviation,
                mean + deviation,
                table.key.family,
                table.paper_mean("test_auc", study.shared) if has_paper else None,
            )
        )
    return mark_rows(marks, FAMILY_ORDER, label="mean test AUC")


def gain_figure(study: Study) -> str:
    """Draw how far each method lies above the reference, with its interval."""
    families = {table.name: table.key.family for table in study.methods}
    marks = [
        Mark(name, gain.mean, gain.low, gain.high, families[name], is_filled=gain.excludes_zero)
        for name, gain in study.gains.items()
    ]
    label = f"test AUC minus that of {study.reference.name}"
    return mark_rows(marks, FAMILY_ORDER, label=label, zero=True)


def rank_figure(study: Study) -> str:
    """Draw the mean ranks and Nemenyi's critical difference."""
    ranking = study.rankings["test_auc"]
    ranks = dict(zip(ranking.names, ranking.ranks, strict=True))
    return rank_line(ranks, alike(ranking.ranks, ranking.critical), ranking.critical)


def query_figure(study: Study) -> str:
    """Draw the learning curves of IMBoost's queries, with the paper's."""
    papers = {t.name: paper_rounds(t.key.query) for t in study.queries if t.key.is_plain}
    return learning_curves(
        {table.name: _curve(table, study.query_sets) for table in study.queries},
        label="mean test AUC",
        reference={name: curve for name, curve in papers.items() if curve},
    )


def leader_figure(study: Study) -> str:
    """Draw the learning curves of the best method of each family."""
    curves = {table.name: _curve(table, study.shared) for table in study.leaders}
    return learning_curves(curves, label="mean test AUC", looks=_family_looks(study))


def set_figure(study: Study) -> str:
    """Draw the learning curves of the best method of each family on every data set."""
    panels: dict[str, dict[str, dict[int, float]]] = {}
    for group in study.groups:
        panels[group] = {
            table.name: {number: cell.mean for number, cell in table.sets[group].curve.items()}
            for table in study.leaders
            if group in table.sets
        }
    shown = {group: curves for group, curves in panels.items() if curves}
    return small_multiples(shown, label="test AUC", looks=_family_looks(study))


def setting_figure(study: Study) -> str:
    """Draw what settings and methods cost and bring, as the paper's figure 5."""
    panels = [
        Panel(
            f"{table.ablation.symbol} ({table.ablation.setting.rpartition('__')[2]})",
            {f"{row.value:g}": row.cell.mean for row in table.rows if row.cell},
            {f"{row.value:g}": row.paper for row in table.rows if row.paper is not None},
            f"{table.ablation.default:g}",
        )
        for table in study.ablations
        if table.is_measured
    ]
    return setting_panels(panels, time_panel(study), label="mean test AUC")


def _family_looks(study: Study) -> dict[str, int]:
    """Return the look of every family; the second of a family differs in its dashes alone."""
    looks: dict[str, int] = {}
    for table in study.leaders:
        number = FAMILY_ORDER.index(table.key.family)
        looks[table.name] = number if number not in looks.values() else number + len(COLOURS)
    return looks


def time_panel(study: Study) -> Panel | None:
    """Show the methods whose times the paper has, then the best of each family.

    Of several machines, the one with the most runs is shown.
    """
    machines: Counter[tuple[str, str]] = Counter()
    for ratio in study.times:
        machines[ratio.device, ratio.host] += ratio.n_runs
    shown = {table.key for table in study.leaders}
    wanted = [ratio for ratio in study.times if ratio.paper is not None or ratio.key in shown]
    most = max(machines, key=lambda machine: machines[machine], default=None)
    chosen = [ratio for ratio in wanted if (ratio.device, ratio.host) == most]
    if len(chosen) < 2:
        return None
    chosen = sorted(chosen, key=lambda ratio: ratio.paper is None)[:MAX_TIMES]
    chosen.sort(key=lambda ratio: ratio.ratio)
    return Panel(
        f"time, {study.reference.name} = 1",
        {ratio.key.name: ratio.ratio for ratio in chosen},
        {ratio.key.name: ratio.paper for ratio in chosen if ratio.paper is not None},
    )


def _curve(table: MethodTable, groups: list[str]) -> dict[int, float]:
    return {number: cell.mean for number, cell in table.mean_curve(groups).items()}
