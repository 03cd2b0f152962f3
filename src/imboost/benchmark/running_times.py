"""How long methods take, as ratios to one of them (the paper's table C.13)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from imboost.benchmark.method_key import IMBOOST, MethodKey
from imboost.benchmark.paper import RUNNING_TIMES
from imboost.benchmark.tables import MethodTable, Run


@dataclass(frozen=True)
class TimeRatio:
    """The time of a method over that of another, on runs that both did on one machine.

    Parameters
    ----------
    key : MethodKey
    device : str
    n_runs : int
    seconds, base_seconds : float
        Of all these runs, by the method and by the one it is compared with.
    """

    key: MethodKey
    device: str
    n_runs: int
    seconds: float
    base_seconds: float

    @property
    def ratio(self) -> float:
        """How many times as long the method takes."""
        return self.seconds / self.base_seconds

    @property
    def paper(self) -> float | None:
        """The same of the paper's running times, where it has them."""
        seconds = RUNNING_TIMES.get((self.key.detector, self.key.query))
        if seconds is None or not self.key.is_plain:
            return None
        return seconds / RUNNING_TIMES[IMBOOST.detector, IMBOOST.query]


def time_ratios(tables: Iterable[MethodTable], base: MethodTable) -> list[TimeRatio]:
    """Compare the times of methods with those of `base`, device by device, fastest first.

    A run counts if `base` has one of the same data set and seed, done on the same machine.
    """
    ratios = []
    for table in tables:
        by_device: dict[str, list[Run]] = defaultdict(list)
        for run in table.runs.keys() & base.runs.keys():
            own, other = table.runs[run], base.runs[run]
            if (own.device, own.host) == (other.device, other.host):
                by_device[own.device].append(run)
        for device, runs in by_device.items():
            seconds = sum(table.runs[run].seconds for run in runs)
            base_seconds = sum(base.runs[run].seconds for run in runs)
            if base_seconds > 0:
                ratios.append(TimeRatio(table.key, device, len(runs), seconds, base_seconds))
    return sorted(ratios, key=lambda ratio: (ratio.device, ratio.ratio))
