"""What a report says first, in words computed from the results."""

from __future__ import annotations

import math
from collections import Counter

from imboost.benchmark.report.study import Study
from imboost.benchmark.report.tables import verdict
from imboost.reporting import format_value


def find_words(study: Study) -> list[str]:
    """Return sentences on the best method, the reference and how sure that is."""
    if not study.shared:
        return [
            "No data set has results of all the methods, so that there is nothing to compare "
            "them on; the tables show each method's own figures."
        ]
    sentences = [_best(study), _reference(study), _paper(study), _chance(study), _ranks(study)]
    return [sentence for sentence in sentences if sentence]


def _best(study: Study) -> str:
    best, sets = study.methods[0], count_words(len(study.shared), "data set")
    auc = format_value(best.mean("test_auc", study.shared), "figure")
    ap = format_value(best.mean("test_ap", study.shared), "figure")
    if len(study.methods) == 1:
        return f"{best.name} reaches a mean test AUC of {auc} and AP of {ap} over {sets}."
    return (
        f"Over the {sets} that all {len(study.methods)} methods have, {best.name} has the "
        f"highest mean test AUC, {auc} (AP {ap})."
    )


def _reference(study: Study) -> str:
    reference = study.reference
    if reference is study.methods[0]:
        return ""
    ranking = study.rankings["test_auc"]
    own = ranking.ranks[ranking.names.index(reference.name)]
    place = 1 + sum(rank < own for rank in ranking.ranks)
    auc = format_value(reference.mean("test_auc", study.shared), "figure")
    return (
        f"{reference.name} reaches {auc} and is number {place} of {len(ranking.names)} by mean "
        f"rank ({own:.1f})."
    )


def _paper(study: Study) -> str:
    paper = study.reference.paper_mean("test_auc", study.shared)
    if math.isnan(paper):
        return ""
    has = [
        group
        for group in study.shared
        if study.reference.sets[group].cells["test_auc"].paper is not None
    ]
    ours = format_value(study.reference.mean("test_auc", has), "figure")
    on = "On the same data sets"
    if len(has) < len(study.shared):
        on = f"On the {count_words(len(has), 'data set')} of these that the paper has"
    return (
        f"{on}, {study.reference.name} has {ours} and the paper {format_value(paper, 'figure')}."
    )


def _chance(study: Study) -> str:
    if not study.gains or all(math.isnan(gain.low) for gain in study.gains.values()):
        return ""
    counts = Counter(verdict(gain) for gain in study.gains.values())
    return (
        f"Judged by 95 % intervals of paired differences, {counts['better']} of the "
        f"{count_words(len(study.gains), 'other method')} "
        f"{'is' if counts['better'] == 1 else 'are'} better than {study.reference.name}, "
        f"{counts['worse']} worse, and {counts['not distinguishable']} not distinguishable "
        "from it."
    )


def _ranks(study: Study) -> str:
    ranking = study.rankings["test_auc"]
    if math.isnan(ranking.friedman):
        return ""
    p = p_words(ranking.friedman)
    says = "differ" if ranking.friedman < 0.05 else "do not differ"
    return f"By Friedman's test the mean ranks of all methods {says} by more than chance ({p})."


def p_words(p: float) -> str:
    """Write a p value, in one piece.

    >>> p_words(0.0123).split()
    ['p', '=', '0.012']
    """
    text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def count_words(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> count_words(1, "set"), count_words(2, "set")
    ('1 set', '2 sets')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
