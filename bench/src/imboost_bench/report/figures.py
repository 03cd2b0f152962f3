"""The figures of a report, as SVG; an empty string for a figure without content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from imboost_bench.analysis.method_key import FAMILY_ORDER
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.paper import paper_rounds
from imboost_bench.report.charts import COLOURS, curve_panels, dot_plot

_ROUNDS = "round of questions (0: no answer yet)"


def draw_figures(results: ResultSet) -> dict[str, str]:
    """Draw all figures, by name: dot plots, and learning curves of the best of each family."""
    marks = {"means": mean_marks(results), "gains": gain_marks(results)}
    marks["ranks"] = rank_marks(results)
    axes: dict[str, dict[str, Any]] = {
        "means": {"label": "mean test AUC"},
        "gains": {"label": f"test AUC minus that of {results.reference}", "origin": 0.0},
        "ranks": {"label": "mean rank (1 is best)"},
    }
    figures = {n: "" if own.empty else dot_plot(own, **axes[n]) for n, own in marks.items()}
    figures |= {"queries": _query_figure(results), "settings": _setting_figure(results)}
    options: dict[str, Any] = {"styles": _family_styles(results)}
    leaders = results.leaders
    panels = {group: _curves(results, leaders, [group]) for group in results.groups}
    panels = {group: curves for group, curves in panels.items() if not curves.empty}
    figures["data_sets"] = curve_panels(panels, label="test AUC", columns=4, **options)
    figures["leaders"] = ""
    if results.shared and (len(leaders) > 1 or not results.queries):
        panel = {"": _curves(results, leaders, results.shared)}
        figures["leaders"] = curve_panels(panel, label="mean test AUC", x_label=_ROUNDS, **options)
    return figures


def _marks(results: ResultSet, names: Sequence[str], **columns: Any) -> pd.DataFrame:
    """Return the rows of a dot plot with the families of the methods."""
    families = [results.keys[name].family for name in names]
    styles = [FAMILY_ORDER.index(family) for family in families]
    defaults = {"family": families, "style": styles, "reference": float("nan"), "is_filled": True}
    return pd.DataFrame(defaults | columns, index=list(names))


def mean_marks(results: ResultSet) -> pd.DataFrame:
    """Return the mean test AUC of all methods by family, as in the paper's figure 3."""
    if not results.shared:
        return pd.DataFrame()
    means = results.means("test_auc").loc[results.methods]
    mean, std = means["mean"], means["std"]
    paper = mean - results.means("test_auc", results.paper_groups)["difference"]
    ends = {"low": mean - std, "high": mean + std, "reference": paper}
    marks = _marks(results, results.methods, value=mean, **ends)
    best_first = {family: at for at, family in reversed([*enumerate(marks["family"])])}
    return marks.sort_values("family", key=lambda own: own.map(best_first), kind="stable")


def gain_marks(results: ResultSet) -> pd.DataFrame:
    """Return the difference of each method to the reference, filled if it is significant."""
    gains = results.gains
    if gains["low"].isna().all():
        return pd.DataFrame()
    differs = results.outcomes.isin(["better", "worse"])
    gains = gains.rename(columns={"mean": "value"})[["value", "low", "high"]]
    return _marks(results, gains.index, **gains, is_filled=differs)


def rank_marks(results: ResultSet) -> pd.DataFrame:
    """Return mean ranks, each with half of Nemenyi's critical difference to both sides."""
    ranking = results.rankings["test_auc"]
    ranks = ranking.ranks.sort_values(kind="stable")
    half = ranking.critical / 2
    marks = _marks(results, ranks.index, value=ranks, low=ranks - half, high=ranks + half)
    return marks if half > 0 else marks.iloc[:0]


def _query_figure(results: ResultSet) -> str:
    """Draw the learning curves of IMBoost's query strategies, with the paper's."""
    if not results.query_groups:
        return ""
    curves = _curves(results, results.queries, results.query_groups)
    plain = [name for name in results.queries if results.keys[name].is_plain]
    papers = {name: paper_rounds(results.keys[name].query) for name in plain}
    reference = pd.DataFrame({name: pd.Series(own) for name, own in papers.items() if own})
    rounds = sorted({*curves.index, *reference.index})
    panel, reference = {"": curves.reindex(rounds)}, reference.reindex(rounds)
    return curve_panels(panel, label="mean test AUC", x_label=_ROUNDS, references={"": reference})


def _setting_figure(results: ResultSet) -> str:
    """Draw the test AUC over the values of settings (the paper's figure 5)."""
    panels, papers = {}, {}
    for table in results.ablations.values():
        ablation = table.ablation
        values = table.values.set_axis([f"{value:g}" for value in table.values.index])
        setting = ablation.setting.rpartition("__")[2]
        title = f"{ablation.symbol}: {setting}, default {ablation.default:g}"
        panels[title] = values[["mean"]]
        papers[title] = values[["paper"]].set_axis(["mean"], axis=1)
    return curve_panels(panels, label="mean test AUC", references=papers) if panels else ""


def _family_styles(results: ResultSet) -> dict[str, int]:
    """Return the line style of every leader; two of one family differ in their dashes."""
    styles: dict[str, int] = {}
    for name in results.leaders:
        number = FAMILY_ORDER.index(results.keys[name].family)
        styles[name] = number if number not in styles.values() else number + len(COLOURS)
    return styles


def _curves(results: ResultSet, methods: list[str], groups: list[str]) -> pd.DataFrame:
    """Return mean test AUCs, rounds by methods; a method without any is left out."""
    curves = results.curves(methods, groups)["mean"].unstack("method")
    return curves.reindex(columns=[name for name in methods if name in curves])
