"""The main findings of a report, as sentences."""

from __future__ import annotations

import math

from imboost.present.formatting import count, number
from imboost_bench.analysis.result_set import ResultSet


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
    auc, ap = (_figure(results.means(of)["mean"][best]) for of in ("test_auc", "test_ap"))
    if n_methods == 1:
        return f"{best} has a mean test AUC of {auc} and a mean test AP of {ap} over {data_sets}."
    return (
        f"Over the {data_sets} with results of all {n_methods} methods, {best} has the highest "
        f"mean test AUC: {auc} (AP {ap})."
    )


def _reference(results: ResultSet) -> str:
    name, ranks = results.reference, results.rankings["test_auc"].ranks
    if name == results.methods[0]:
        return ""
    return (
        f"{name} has a mean test AUC of {_figure(results.means('test_auc')['mean'][name])} and is "
        f"number {1 + (ranks < ranks[name]).sum()} of {len(ranks)} by mean rank "
        f"({ranks[name]:.1f})."
    )


def _paper(results: ResultSet) -> str:
    name = results.reference
    figures = results.figures.loc[name].xs("test_auc", level="metric")[["mean", "paper"]]
    known = figures.reindex(results.shared).dropna()
    if known.empty:
        return ""
    on = "On the same data sets"
    if len(known) < len(results.shared):
        on = f"On the {count(len(known), 'data set')} of these that the paper uses"
    mean, paper = map(_figure, known.mean())
    sentence = f"{on}, {name} has a mean test AUC of {mean}; the paper reports {paper}."
    like = known[~known.index.isin(results.unlike_paper)]
    if 0 < len(like) < len(known):
        mean, paper = map(_figure, like.mean())
        same = count(len(like), "data set")
        sentence += f" On the {same} of these with the same rows as in the paper: {mean}, {paper}."
    return sentence


def _differences(results: ResultSet) -> str:
    if results.gains["low"].isna().all():
        return ""
    better, worse, others = (
        int((results.outcomes == word).sum())
        for word in ("better", "worse", "not distinguishable")
    )
    return (
        f"By the 95% confidence intervals of paired differences, {better} of the "
        f"{count(len(results.gains), 'other method')} {'is' if better == 1 else 'are'} better "
        f"than {results.reference}, {worse} worse, and {others} not distinguishable from it."
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


def _figure(value: float) -> str:
    return number(value, 3)
