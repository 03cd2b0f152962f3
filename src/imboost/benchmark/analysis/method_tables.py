"""Results condensed: per method, per data set, per round, beside the paper's figures."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from imboost.benchmark.analysis.method_key import MethodKey
from imboost.benchmark.paper import paper_figures
from imboost.benchmark.run.protocol import RoundResult

METRICS = ("test_auc", "test_ap", "train_auc", "train_ap")
IMAGE_GROUPS = ("CIFAR10", "FashionMNIST", "MNIST-C", "MVTec-AD", "SVHN")
TEXT_GROUPS = ("20news", "agnews", "amazon", "imdb", "yelp")
EMBEDDING_GROUPS = frozenset((*IMAGE_GROUPS, *TEXT_GROUPS))
"""The paper's image and text rows; all others are tabular."""

Run = tuple[str, int]
"""A data set and a seed."""

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


def is_tabular(group: str) -> bool:
    """Whether a set is a table rather than embeddings of images or text."""
    return group.rpartition("/")[2] not in EMBEDDING_GROUPS


def reading_order(group: str) -> tuple[bool, str]:
    """Sort tables before embeddings, each by name."""
    return not is_tabular(group), group.lower()


@dataclass(frozen=True)
class Cell:
    """A mean over seeds, its deviation, and the paper's figure where there is one."""

    mean: float
    deviation: float = math.nan
    n_seeds: int = 1
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        """How far the mean lies above the paper's figure."""
        return None if self.paper is None else self.mean - self.paper


@dataclass(frozen=True)
class SetTable:
    """A method on one row of the tables: a data set, or the parts of an image or text set.

    Parameters
    ----------
    group : str
        The row.
    parts : frozenset of str
        The data sets in it.
    seconds : float
        Mean over its runs.
    cells : dict
        Figures after the last round, by metric.
    curve : dict
        Test AUC by round.
    """

    group: str
    parts: frozenset[str]
    seconds: float
    cells: dict[str, Cell]
    curve: dict[int, Cell]


@dataclass(frozen=True)
class MethodTable:
    """All results of one method.

    Parameters
    ----------
    key : MethodKey
    sets : dict
        By row of the tables, in reading order.
    runs : dict
        The last line of every run.
    """

    key: MethodKey
    sets: dict[str, SetTable]
    runs: dict[Run, RoundResult]

    @property
    def name(self) -> str:
        """How the method is called in tables and figures."""
        return self.key.name

    def mean(self, metric: str, groups: Iterable[str]) -> float:
        """Mean of the final figures over data sets, every set with the same weight."""
        return _mean(self.sets[group].cells[metric].mean for group in groups)

    def paper_mean(self, metric: str, groups: Iterable[str]) -> float:
        """Mean of the paper's figures over those of the data sets that it has."""
        papers = [self.sets[group].cells[metric].paper for group in groups]
        return _mean(paper for paper in papers if paper is not None)

    def mean_difference(self, metric: str, groups: Iterable[str]) -> float:
        """Mean of the differences to the paper, over those of the data sets that it has."""
        found = [self.sets[group].cells[metric].difference for group in groups]
        return _mean(difference for difference in found if difference is not None)

    def deviation(self, metric: str, groups: Iterable[str]) -> float:
        """Mean over data sets of the deviation over seeds, as in the paper's last row."""
        return _mean_known(self.sets[group].cells[metric].deviation for group in groups)

    def mean_curve(self, groups: Iterable[str]) -> dict[int, Cell]:
        """Mean test AUC by round, and the mean deviation over seeds."""
        curves = [self.sets[group].curve for group in groups]
        rounds = sorted(set.intersection(*(set(curve) for curve in curves))) if curves else []
        return {
            number: Cell(
                _mean(curve[number].mean for curve in curves),
                _mean_known(curve[number].deviation for curve in curves),
            )
            for number in rounds
        }


def method_tables(lines: Iterable[RoundResult]) -> list[MethodTable]:
    """Condense finished runs, methods in the order in which they first appear."""
    by_method = _grouped((MethodKey.of(line), line) for line in lines if line.status == "ok")
    tables = [_method_table(key, own) for key, own in by_method.items()]
    return [table for table in tables if table.sets]


def _method_table(key: MethodKey, lines: list[RoundResult]) -> MethodTable:
    # A figure that is not a number would make every mean over it one.
    by_group = _grouped((li.group, li) for li in lines if not math.isnan(li.test_auc))
    runs = {(li.dataset, li.seed): li for own in by_group.values() for li in own if li.ends_run}
    sets = {
        group: _set_table(key.paper_column, group, by_group[group])
        for group in sorted(by_group, key=reading_order)
        if any(line.ends_run for line in by_group[group])
    }
    return MethodTable(key, sets, runs)


def _set_table(column: str | None, group: str, lines: list[RoundResult]) -> SetTable:
    final = [line for line in lines if line.ends_run]
    by_round = _grouped((line.round, line) for line in lines)
    return SetTable(
        group=group,
        parts=frozenset(line.dataset for line in final),
        seconds=_mean(line.seconds for line in final),
        cells={metric: _cell(final, metric, _paper(metric, column, group)) for metric in METRICS},
        curve={number: _cell(by_round[number], "test_auc") for number in sorted(by_round)},
    )


def _cell(lines: Iterable[RoundResult], metric: str, paper: float | None = None) -> Cell:
    """Average the seeds of every part of a set, then the parts.

    The deviation is that of the seeds which all parts have.
    """
    values = {(line.dataset, line.seed): float(getattr(line, metric)) for line in lines}
    by_part = _grouped((part, value) for (part, _), value in values.items())
    by_seed = _grouped((seed, value) for (_, seed), value in values.items())
    whole = [_mean(own) for own in by_seed.values() if len(own) == len(by_part)]
    deviation = float(np.std(whole, ddof=1)) if len(whole) > 1 else math.nan
    return Cell(_mean(_mean(own) for own in by_part.values()), deviation, len(by_seed), paper)


def _paper(metric: str, column: str | None, group: str) -> float | None:
    return paper_figures(metric, column).get(group.lower()) if column else None


def _grouped(pairs: Iterable[tuple[_Key, _Item]]) -> dict[_Key, list[_Item]]:
    """Collect the items of every key, keys in the order of their first item."""
    groups: dict[_Key, list[_Item]] = defaultdict(list)
    for key, item in pairs:
        groups[key].append(item)
    return dict(groups)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else math.nan


def _mean_known(values: Iterable[float]) -> float:
    return _mean(value for value in values if not math.isnan(value))
