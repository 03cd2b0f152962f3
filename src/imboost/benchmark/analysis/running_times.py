"""How long methods take, as ratios to one of them (the paper's table C.13)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from imboost.benchmark.analysis.method_key import MethodKey
from imboost.benchmark.analysis.method_tables import MethodTable, Run
from imboost.benchmark.paper import RUNNING_TIMES


@dataclass(frozen=True)
class TimeRatio:
    """The time of a method over that of another, on runs that both did on one machine.

    Parameters
    ----------
    key : MethodKey
    device, host : str
        The machine.
    n_runs : int
    seconds, base_seconds : float
        Of all these runs, by the method and by the one it is compared with.
    paper : float, optional
        The same ratio of the paper's running times, where it has both.
    """

    key: MethodKey
    device: str
    host: str
    n_runs: int
    seconds: float
    base_seconds: float
    paper: float | None = None

    @property
    def ratio(self) -> float:
        """How many times as long the method takes."""
        return self.seconds / self.base_seconds


def time_ratios(tables: Iterable[MethodTable], base: MethodTable) -> list[TimeRatio]:
    """Compare the times of methods with those of `base`, machine by machine, fastest first.

    A run counts if `base` has one of the same data set and seed, done on the same machine.
    """
    ratios = []
    for table in tables:
        by_machine: dict[tuple[str, str], list[Run]] = defaultdict(list)
        for run in table.runs.keys() & base.runs.keys():
            own, other = table.runs[run], base.runs[run]
            if (own.device, own.host) == (other.device, other.host):
                by_machine[own.device, own.host].append(run)
        paper = _paper_ratio(table.key, base.key)
        for machine, runs in by_machine.items():
            seconds = sum(table.runs[run].seconds for run in runs)
            base_seconds = sum(base.runs[run].seconds for run in runs)
            if base_seconds > 0:
                times = (seconds, base_seconds)
                ratios.append(TimeRatio(table.key, *machine, len(runs), *times, paper))
    return sorted(ratios, key=lambda ratio: (ratio.device, ratio.host, ratio.ratio))


def _paper_ratio(key: MethodKey, base: MethodKey) -> float | None:
    times = [RUNNING_TIMES.get((k.detector, k.query)) if k.is_plain else None for k in (key, base)]
    return times[0] / times[1] if times[0] and times[1] else None
