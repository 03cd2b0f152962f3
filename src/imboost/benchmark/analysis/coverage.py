"""Which data sets all methods have, which are missing, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from imboost.benchmark.analysis.method_key import MethodKey
from imboost.benchmark.analysis.method_tables import MethodTable, reading_order
from imboost.benchmark.run.protocol import RoundResult

MIN_SHARE = 0.5
"""Methods with a smaller share of the data sets are not ranked, so as not to cost the others
most of the sets they are ranked on."""


@dataclass(frozen=True)
class Gap:
    """A data set that is left out of means and ranks, and the methods that lack it.

    Parameters
    ----------
    group : str
        The data set.
    lacking : dict
        Names of methods by why they lack it: "skipped", "failed" or "not run".
    """

    group: str
    lacking: dict[str, list[str]]


@dataclass(frozen=True)
class Coverage:
    """The fair ground: methods that are compared, and the data sets all of them have.

    Parameters
    ----------
    methods : list of MethodTable
        The compared ones.
    too_few : list of MethodTable
        Those with less than `MIN_SHARE` of the data sets.
    shared : list of str
        Data sets of which every compared method has all parts.
    gaps : list of Gap
        The other data sets.
    """

    methods: list[MethodTable]
    too_few: list[MethodTable]
    shared: list[str]
    gaps: list[Gap]


def find_coverage(tables: Sequence[MethodTable], lines: Iterable[RoundResult]) -> Coverage:
    """Find the data sets that may be compared; `lines` say why others may not."""
    parts: dict[str, set[str]] = defaultdict(set)
    for table in tables:
        for group, own in table.sets.items():
            parts[group] |= own.parts
    wanted = MIN_SHARE * max((len(table.sets) for table in tables), default=0)
    methods = [table for table in tables if len(table.sets) >= wanted]
    too_few = [table for table in tables if len(table.sets) < wanted]
    why = _why_missing(lines)
    shared, gaps = [], []
    for group in sorted(parts, key=reading_order):
        lacking: dict[str, list[str]] = defaultdict(list)
        for table in methods:
            missing = parts[group] - (table.sets[group].parts if group in table.sets else set())
            for reason in sorted({why.get((table.key, part), "not run") for part in missing}):
                lacking[reason].append(table.name)
        if lacking:
            gaps.append(Gap(group, dict(lacking)))
        else:
            shared.append(group)
    return Coverage(methods, too_few, shared, gaps)


def _why_missing(lines: Iterable[RoundResult]) -> dict[tuple[MethodKey, str], str]:
    """Return the status of methods on data sets where a run has no result."""
    return {(MethodKey.of(li), li.dataset): li.status for li in lines if li.status != "ok"}


@dataclass(frozen=True)
class Trouble:
    """Runs that have no result for the same reason.

    Parameters
    ----------
    status : str
        "failed" or "skipped".
    reason : str
    n_runs : int
    where : list of str
        The runs in words, methods with the same data sets and seeds together.
    """

    status: str
    reason: str
    n_runs: int
    where: list[str]


def find_troubles(lines: Iterable[RoundResult]) -> list[Trouble]:
    """Collect the runs without a result by reason, the most frequent first."""
    by_reason: dict[tuple[str, str], list[RoundResult]] = defaultdict(list)
    for line in lines:
        if line.status != "ok":
            by_reason[line.status, line.reason].append(line)
    troubles = [Trouble(*what, len(own), _where(own)) for what, own in by_reason.items()]
    return sorted(troubles, key=lambda trouble: -trouble.n_runs)


def _where(lines: Iterable[RoundResult]) -> list[str]:
    """Say which runs these are: methods on data sets, seeds."""
    seeds: dict[tuple[str, str], set[int]] = defaultdict(set)
    for line in lines:
        seeds[MethodKey.of(line).name, line.dataset].add(line.seed)
    sets: dict[tuple[str, tuple[int, ...]], list[str]] = defaultdict(list)
    for (method, dataset), own in seeds.items():
        sets[method, tuple(sorted(own))].append(dataset)
    methods: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = defaultdict(list)
    for (method, numbers), names in sets.items():
        methods[tuple(sorted(names, key=str.lower)), numbers].append(method)
    return [
        f"{', '.join(own)} on {', '.join(names)} ({_seeds(numbers)})"
        for (names, numbers), own in methods.items()
    ]


def _seeds(numbers: tuple[int, ...]) -> str:
    return f"seed{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
