"""Every method on every data set: the paper's tables C.2 to C.5."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.report.formatting import Kind, format_value
from imboost_bench.report.report_table import Matrix, Table

PAPER_TABLES = {
    "test_auc": ("C.4", "test AUC"),
    "test_ap": ("C.5", "test AP"),
    "train_auc": ("C.2", "training AUC"),
    "train_ap": ("C.3", "training AP"),
}
"""Number and title of the paper's table of each metric, in the order of the report."""


def figure_matrix(results: ResultSet, metric: str) -> Matrix:
    """Return our figures, with means, ranks and wins on the shared data sets below."""
    methods = [*results.methods, *results.coverage.too_few]
    means, ranking = _shared_means(results, metric), results.rankings[metric]
    below: dict[str, tuple[Kind, pd.Series]] = {
        "mean": ("figure", means["mean"]),
        "std over seeds": ("figure", means["std"]),
    }
    compared = _shared_means(results, metric, results.paper_groups)
    suffix = _paper_suffix(results)
    if suffix and compared["paper"].reindex(results.methods).notna().any():
        below[f"mean{suffix}"] = ("figure", compared["mean"])
    below[f"mean in the paper{suffix}"] = ("figure", compared["paper"])
    below |= {"mean rank": ("number", ranking.ranks), "wins": ("number", ranking.wins)}
    summary = {
        name: (kind, values.reindex(results.methods).reindex(methods).tolist())
        for name, (kind, values) in below.items()
        if values.reindex(results.methods).notna().any()
    }
    frame = results.table(metric).reindex(index=results.groups, columns=methods)
    hints = [[_hint(results, m, group, metric) for m in methods] for group in results.groups]
    scale = (0.5, 1.0) if metric.endswith("auc") else (0.0, 1.0)  # chance to perfect
    return Matrix(_name_rows(results, frame), summary, scale, hints=pd.DataFrame(hints))


def difference_matrix(results: ResultSet, metric: str) -> Matrix | None:
    """Return our figures minus the paper's; None if the paper has none of these methods."""
    methods = [method for method in results.methods if results.keys[method].paper_column]
    figures = results.table(metric, "difference").reindex(columns=methods).dropna(how="all")
    groups = [group for group in results.groups if group in figures.index]
    if not groups:
        return None
    means = _shared_means(results, metric, results.paper_groups)["difference"].reindex(methods)
    name = f"mean{_paper_suffix(results)}"
    summary: dict[str, tuple[Kind, list[float]]] = {name: ("signed", means.tolist())}
    largest = 0.3  # the difference with full shade
    return Matrix(_name_rows(results, figures.loc[groups]), summary, (0.0, largest), kind="signed")


def tidy_table(results: ResultSet) -> Table:
    """Return all figures in long form: one row per method, data set and metric."""
    columns = ["method", "group", "n_parts", "metric", "mean", "std", "n_seeds"]
    columns += ["paper", "difference", "seconds"]
    names = {"group": "data set", "n_parts": "parts", "n_seeds": "seeds"}
    names["seconds"] = "seconds per run"
    return Table(results.figures.reset_index()[columns].rename(columns=names))


def row_names(results: ResultSet, groups: Sequence[str]) -> list[str]:
    """Name data sets with the number of their parts and marks.

    A star marks a data set that not all methods have, a dagger one with other rows in the paper.
    """
    n_parts = results.figures["n_parts"].groupby("group").agg(["min", "max"])
    names = []
    for group in groups:
        low, high = n_parts.loc[group]
        parts = f" ({high if low == high else f'{low} to {high}'} parts)" if high > 1 else ""
        marks = ["*"] if group not in results.shared else []
        marks += ["†"] if group in results.unlike_paper else []
        names.append(" ".join([group + parts, *marks]))
    return names


def _name_rows(results: ResultSet, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis(pd.Index(row_names(results, frame.index), name="data set"))


def _shared_means(
    results: ResultSet, metric: str, groups: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the means over the shared data sets or some of them; NaN without shared ones."""
    means = results.means(metric, groups)
    return means if results.shared else means * float("nan")


def _paper_suffix(results: ResultSet) -> str:
    """Return what names a mean over `ResultSet.paper_groups` if these are not all data sets."""
    is_part = len(results.paper_groups) < len(results.shared)
    return ", like for like" if is_part and results.is_like_for_like else ""


def _hint(results: ResultSet, method: str, group: str, metric: str) -> str:
    """Return the tooltip of a figure."""
    if (method, group, metric) not in results.figures.index:
        return f"{method}: no result"
    figure = results.figures.loc[(method, group, metric)]
    mean, std, paper = (format_value(figure[name], "figure") for name in ("mean", "std", "paper"))
    seeds = f"± {std}, {figure['n_seeds']:.0f} seeds" if figure["n_seeds"] > 1 else "one seed"
    return f"{method}, {group}: {mean} ({seeds}); paper {paper}"
