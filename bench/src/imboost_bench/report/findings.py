"""The main findings of a report, as sentences."""

from __future__ import annotations

import math
from collections import Counter

from imboost.present.formatting import count
from imboost_bench.analysis.aggregate import of_metric
from imboost_bench.analysis.comparison import outcome
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.report.formatting import format_value


def find_sentences(results: ResultSet) -> list[str]:
    """Return sentences about the best method, the reference and their significance."""
    if not results.shared:
        return [
            "No data set has results of all methods, so the methods cannot be compared; the "
            "tables show the results of each method."
        ]
    sentences = [_best(results), _reference(results), _paper(results)]
    sentences += [_differences(results), _ranks(results)]
    return [sentence for sentence in sentences if sentence]


def _best(results: ResultSet) -> str:
    best, n_methods = results.methods[0], len(results.methods)
    data_sets = count(len(results.shared), "data set")
    auc = format_value(results.means("test_auc").loc[best, "mean"], "figure")
    ap = format_value(results.means("test_ap").loc[best, "mean"], "figure")
    if n_methods == 1:
        return f"{best} has a mean test AUC of {auc} and a mean test AP of {ap} over {data_sets}."
    return (
        f"Over the {data_sets} with results of all {n_methods} methods, {best} has the highest "
        f"mean test AUC: {auc} (AP {ap})."
    )


def _reference(results: ResultSet) -> str:
    name = results.reference
    if name == results.methods[0]:
        return ""
    ranks = results.rankings["test_auc"].ranks
    position = 1 + (ranks < ranks[name]).sum()
    auc = format_value(results.means("test_auc").loc[name, "mean"], "figure")
    return (
        f"{name} has a mean test AUC of {auc} and is number {position} of {len(ranks)} by mean "
        f"rank ({ranks[name]:.1f})."
    )


def _paper(results: ResultSet) -> str:
    name = results.reference
    figures = of_metric(results.figures.loc[name], "test_auc").reindex(results.shared)
    known = figures.dropna(subset="paper")
    if known.empty:
        return ""
    mean, paper = (format_value(known[column].mean(), "figure") for column in ("mean", "paper"))
    on = "On the same data sets"
    if len(known) < len(results.shared):
        on = f"On the {count(len(known), 'data set')} of these that the paper uses"
    sentence = f"{on}, {name} has a mean test AUC of {mean}; the paper reports {paper}."
    like = known.drop(index=[group for group in results.unlike_paper if group in known.index])
    if 0 < len(like) < len(known):
        mean, paper = (format_value(like[name].mean(), "figure") for name in ("mean", "paper"))
        same = count(len(like), "data set")
        sentence += f" On the {same} of these with the same rows as in the paper: {mean}, {paper}."
    return sentence


def _differences(results: ResultSet) -> str:
    if not results.gains["low"].notna().any():
        return ""
    counts = Counter(outcome(gain) for gain in results.gains.itertuples())
    return (
        f"By the 95% confidence intervals of paired differences, {counts['better']} of the "
        f"{count(len(results.gains), 'other method')} "
        f"{'is' if counts['better'] == 1 else 'are'} better than {results.reference}, "
        f"{counts['worse']} worse, and {counts['not distinguishable']} not distinguishable "
        "from it."
    )


def _ranks(results: ResultSet) -> str:
    p = results.rankings["test_auc"].friedman
    if math.isnan(p):
        return ""
    differ = "differ significantly" if p < 0.05 else "do not differ significantly"
    return f"By the Friedman test, the mean ranks of the methods {differ} ({format_p(p)})."


def format_p(p: float) -> str:
    """Format a p value with non-breaking spaces.

    >>> format_p(0.0123).split()
    ['p', '=', '0.012']
    """
    text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")
