"""The figures of a report, as SVG; an empty string for a figure without content."""

from __future__ import annotations

import math

from imboost_bench.analysis.comparison import indistinguishable, outcome
from imboost_bench.analysis.method_key import FAMILY_ORDER
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.paper import paper_rounds
from imboost_bench.report.canvas import COLOURS
from imboost_bench.report.comparison_charts import (
    Mark,
    Panel,
    critical_difference_diagram,
    dot_plot,
    setting_panels,
)
from imboost_bench.report.curves import learning_curves, small_multiples


def draw_figures(results: ResultSet) -> dict[str, str]:
    """Draw all figures, by name."""
    return {
        "means": _mean_figure(results) if results.shared else "",
        "gains": _gain_figure(results) if results.gains["low"].notna().any() else "",
        "ranks": _rank_figure(results),
        "queries": _query_figure(results) if results.query_groups else "",
        "leaders": _leader_figure(results),
        "settings": _setting_figure(results),
        "data_sets": _data_set_figure(results),
    }


def _mean_figure(results: ResultSet) -> str:
    """Draw the mean test AUC of all methods by family, as in the paper's figure 3."""
    means = results.means("test_auc")
    differences = results.means("test_auc", results.paper_groups)["difference"]
    families = {name: results.keys[name].family for name in results.methods}
    best_first = list(families.values())
    marks = []
    for name in sorted(families, key=lambda name: best_first.index(families[name])):
        mean, std = means.loc[name, ["mean", "std"]]
        # The difference is over the data sets with the paper's rows, the mean over all.
        paper = mean - differences[name]
        marks.append(Mark(name, mean, mean - std, mean + std, families[name], paper))
    return dot_plot(marks, FAMILY_ORDER, label="mean test AUC")


def _gain_figure(results: ResultSet) -> str:
    """Draw the difference of each method to the reference, with its interval."""
    marks = []
    for gain in results.gains.itertuples():
        family, differs = results.keys[gain.Index].family, outcome(gain) in ("better", "worse")
        marks.append(Mark(gain.Index, gain.mean, gain.low, gain.high, family, is_filled=differs))
    label = f"test AUC minus that of {results.reference}"
    return dot_plot(marks, FAMILY_ORDER, label=label, zero=True)


def _rank_figure(results: ResultSet) -> str:
    """Draw the mean ranks and Nemenyi's critical difference."""
    ranking = results.rankings["test_auc"]
    if math.isnan(ranking.critical):
        return ""
    ranks = ranking.ranks.to_dict()
    cliques = indistinguishable(ranks.values(), ranking.critical)
    return critical_difference_diagram(ranks, cliques, ranking.critical)


def _query_figure(results: ResultSet) -> str:
    """Draw the learning curves of IMBoost's query strategies, with the paper's."""
    plain = [name for name in results.queries if results.keys[name].is_plain]
    papers = {name: paper_rounds(results.keys[name].query) for name in plain}
    return learning_curves(
        _curves(results, results.queries, results.query_groups),
        label="mean test AUC",
        reference={name: curve for name, curve in papers.items() if curve},
    )


def _leader_figure(results: ResultSet) -> str:
    """Draw the learning curves of the best method of each family."""
    if not results.shared or (len(results.leaders) == 1 and results.queries):
        return ""
    curves = _curves(results, results.leaders, results.shared)
    return learning_curves(curves, label="mean test AUC", styles=_family_styles(results))


def _data_set_figure(results: ResultSet) -> str:
    """Draw the learning curves of the best method of each family on every data set."""
    panels = {group: _curves(results, results.leaders, [group]) for group in results.groups}
    shown = {group: curves for group, curves in panels.items() if curves}
    return small_multiples(shown, label="test AUC", styles=_family_styles(results))


def _setting_figure(results: ResultSet) -> str:
    """Draw the test AUC over the values of settings, and running times (the paper's figure 5)."""
    panels = []
    for table in results.ablations:
        values = table.values.set_axis([f"{value:g}" for value in table.values.index])
        own, papers = (values[column].dropna().to_dict() for column in ("mean", "paper"))
        ablation = table.ablation
        title = f"{ablation.symbol} ({ablation.setting.rpartition('__')[2]})"
        panels.append(Panel(title, own, papers, f"{ablation.default:g}"))
    times = time_panel(results)
    return setting_panels(panels, times, label="mean test AUC") if panels or times else ""


def time_panel(results: ResultSet, most: int = 8) -> Panel | None:
    """Show the methods that the paper timed, then the best of each family; at most `most`.

    With results from several machines, the one with the most runs is shown.
    """
    times = results.times
    if times.empty:
        return None
    machine = times.groupby(["device", "host"], sort=False)["runs"].sum().idxmax()
    times = times.set_index(["device", "host"]).loc[[machine]].set_index("method")
    times = times[times["paper"].notna() | times.index.isin(results.leaders)]
    if len(times) < 2:
        return None
    times = times.sort_values("paper", key=lambda paper: paper.isna(), kind="stable")
    times = times.head(most).sort_values("ratio", kind="stable")
    title = f"time, {results.reference} = 1"
    return Panel(title, times["ratio"].to_dict(), times["paper"].dropna().to_dict())


def _family_styles(results: ResultSet) -> dict[str, int]:
    """Return the line style of every leader; two of one family differ in their dashes."""
    styles: dict[str, int] = {}
    for name in results.leaders:
        number = FAMILY_ORDER.index(results.keys[name].family)
        styles[name] = number if number not in styles.values() else number + len(COLOURS)
    return styles


def _curves(
    results: ResultSet, methods: list[str], groups: list[str]
) -> dict[str, dict[int, float]]:
    curves = results.curves(methods, groups)["mean"]
    known = curves.index.unique("method")
    return {name: curves[name].to_dict() for name in methods if name in known}
