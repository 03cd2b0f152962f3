"""Results condensed: per method, per data set, per round, beside the paper's figures."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from imboost.benchmark.paper import METHODS, PAPER_ROUNDS, paper_figures
from imboost.benchmark.protocol import RoundResult

METRICS = ("test_auc", "test_ap", "train_auc", "train_ap")
IMAGE_GROUPS = ("CIFAR10", "FashionMNIST", "MNIST-C", "MVTec-AD", "SVHN")
TEXT_GROUPS = ("20news", "agnews", "amazon", "imdb", "yelp")
EMBEDDING_GROUPS = frozenset((*IMAGE_GROUPS, *TEXT_GROUPS))
"""The paper's image and text rows; all others are tabular."""


@dataclass(frozen=True)
class Cell:
    """A mean, its deviation over seeds, and the paper's figure where there is one."""

    mean: float
    deviation: float
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        """How far the mean lies above the paper's figure."""
        return None if self.paper is None else self.mean - self.paper


@dataclass
class GroupTable:
    """One row of a table: a data set, or the mean of the parts of an image or text set."""

    group: str
    n_parts: int
    n_seeds: int
    cells: dict[str, Cell]
    seconds: float
    curve: dict[int, float]
    """Mean test AUC by round."""

    @property
    def is_tabular(self) -> bool:
        """Whether the set is a table rather than embeddings of images or text."""
        return self.group.rpartition("/")[2] not in EMBEDDING_GROUPS


@dataclass
class MethodTable:
    """All results of one detector with one query strategy and number of rounds."""

    detector: str
    query: str
    rounds: int = PAPER_ROUNDS
    groups: list[GroupTable] = field(default_factory=list)

    @property
    def name(self) -> str:
        """How the method is called in tables and figures."""
        suffix = "" if self.rounds == PAPER_ROUNDS else f" · {self.rounds} rounds"
        return f"{self.detector} · {self.query}{suffix}"

    def mean(self, metric: str, *, tabular: bool | None = None) -> float:
        """Mean of the final figures over the data sets (of one kind)."""
        return _mean(group.cells[metric].mean for group in self.of_kind(tabular))

    def paper_mean(self, metric: str, *, tabular: bool | None = None) -> float:
        """Mean of the paper's figures over the same data sets; none if it lacks one of them."""
        papers = [group.cells[metric].paper for group in self.of_kind(tabular)]
        return _mean(math.nan if value is None else value for value in papers)

    def count(self, *, tabular: bool | None = None) -> int:
        """Return the number of data sets (of one kind)."""
        return len(self.of_kind(tabular))

    def n_near_paper(self, margin: float = 0.05, *, tabular: bool | None = None) -> int:
        """How many sets have a test AUC no more than `margin` below the paper's."""
        differences = [group.cells["test_auc"].difference for group in self.of_kind(tabular)]
        return sum(value is not None and value >= -margin for value in differences)

    def curve(self, names: Collection[str] | None = None) -> dict[int, float]:
        """Mean test AUC over the data sets (or those of these names), by round."""
        groups = [g for g in self.groups if names is None or g.group in names]
        rounds = sorted({number for group in groups for number in group.curve})
        return {
            number: _mean(g.curve[number] for g in groups if number in g.curve)
            for number in rounds
        }

    def of_kind(self, tabular: bool | None) -> list[GroupTable]:
        """Return the rows of tables, of embeddings, or all."""
        return [g for g in self.groups if tabular is None or g.is_tabular == tabular]


def method_tables(lines: Sequence[RoundResult]) -> list[MethodTable]:
    """Condense finished runs, methods in the order in which they first appear."""
    by_method: dict[tuple[str, str, int], list[RoundResult]] = defaultdict(list)
    for line in lines:
        if line.status == "ok":
            by_method[line.detector, line.query, line.rounds].append(line)
    return [
        MethodTable(*method, groups=_group_tables(method, own))
        for method, own in by_method.items()
    ]


def shared_sets(methods: Sequence[MethodTable]) -> list[str]:
    """Return the data sets that all methods have, the only fair ground to compare means on."""
    names = [[group.group for group in method.groups] for method in methods]
    return [name for name in names[0] if all(name in own for own in names)]


def failures(lines: Iterable[RoundResult]) -> list[RoundResult]:
    """Return the lines of runs that failed."""
    return [line for line in lines if line.status != "ok"]


def _group_tables(method: tuple[str, str, int], lines: list[RoundResult]) -> list[GroupTable]:
    detector, query, rounds = method
    column = METHODS.get((detector, query)) if rounds == PAPER_ROUNDS else None
    by_group: dict[str, list[RoundResult]] = defaultdict(list)
    for line in lines:
        by_group[line.group].append(line)
    tables = [_group_table(column, group, own) for group, own in by_group.items()]
    return sorted(tables, key=lambda table: (not table.is_tabular, table.group.lower()))


def _group_table(column: str | None, group: str, lines: list[RoundResult]) -> GroupTable:
    final = [line for line in lines if line.ends_run]
    cells = {}
    for metric in METRICS:
        paper = paper_figures(metric, column).get(group.lower()) if column else None
        by_seed = _by_seed(final, metric)
        means = list(by_seed.values())
        deviation = float(np.std(means)) if len(means) > 1 else math.nan
        cells[metric] = Cell(_mean(means), deviation, paper)
    rounds = sorted({line.round for line in lines})
    return GroupTable(
        group=group,
        n_parts=len({line.dataset for line in final}),
        n_seeds=len({line.seed for line in final}),
        cells=cells,
        seconds=_mean(line.seconds for line in final),
        curve={
            number: _mean(
                _by_seed([li for li in lines if li.round == number], "test_auc").values()
            )
            for number in rounds
        },
    )


def _by_seed(lines: Iterable[RoundResult], metric: str) -> dict[int, float]:
    """Mean of a metric over the parts of a set, for every seed."""
    values: dict[int, list[float]] = defaultdict(list)
    for line in lines:
        values[line.seed].append(getattr(line, metric))
    return {seed: _mean(own) for seed, own in values.items()}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else math.nan
