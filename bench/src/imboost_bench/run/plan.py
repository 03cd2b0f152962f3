"""The runs of a benchmark call, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from imboost.detectors.base import resolve_device
from imboost.errors import SettingError, UnknownNameError
from imboost.validation import check_number
from imboost_bench.baselines import make_detector, make_strategy
from imboost_bench.datasets.adbench import ADBenchFile, count_rows, find_datasets
from imboost_bench.datasets.splits import SPLITS, STRATIFIED
from imboost_bench.run.protocol import RunSpec
from imboost_bench.run.query_protocol import (
    ALL_OUTLIERS,
    PAPER,
    parse_budget,
    parse_outlier_share,
)
from imboost_bench.run.settings import split_settings

SEEDS = (100, 200, 300)  # the paper's


class Method(NamedTuple):
    """A detector, its query strategy, and settings other than their defaults."""

    detector: str
    query: str
    settings: str = ""

    @classmethod
    def named(cls, detector: str, query: str | None = None, settings: str = "") -> Method:
        """Check names and settings; `query` defaults to the detector's own strategy."""
        own = split_settings(settings)
        for name in {"random_state", "device"} & own.detector.keys():
            raise SettingError(f"The benchmark itself sets {name}: leave it out of the settings.")
        instance = make_detector(detector, **own.detector)
        instance.check_settings()
        query = query or instance.default_query
        make_strategy(query, **own.query)
        return cls(detector, query, settings)


@dataclass(frozen=True)
class Plan:
    """The files by data set, and all runs, finished or not."""

    files: dict[str, ADBenchFile]
    specs: tuple[RunSpec, ...]
    device: str = "cpu"
    jobs: int = 1  # worker processes
    time_limit: float | None = None  # seconds after which a run is skipped


def make_plan(
    data: Path,
    *,
    methods: Iterable[Method],
    datasets: Sequence[str] = (),
    seeds: Sequence[int] = SEEDS,
    large_seeds: Sequence[int] | None = None,
    large_rows: int = 50_000,
    rounds: int = 5,
    budget: str = PAPER,
    oracle_noise: float = 0.0,
    outlier_share: str = ALL_OUTLIERS,
    split: str = STRATIFIED,
    device: str = "cpu",
    jobs: int = 1,
    time_limit: float | None = None,
) -> Plan:
    """Check every name and number of a call before anything runs.

    `datasets` are names of data sets or of groups such as "MVTec-AD", by default all of `data`.
    Those of more than `large_rows` rows are run with `large_seeds`, if given.
    """
    check_number("rounds", rounds, minimum=0, whole=True)
    check_number("oracle_noise", oracle_noise, minimum=0.0, maximum=1.0)
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    check_number("jobs", jobs, minimum=1, whole=True)
    if time_limit is not None:
        check_number("time_limit", time_limit, above=0.0)
    resolve_device(device)
    protocol: dict[str, Any] = {
        "rounds": rounds,
        "budget": parse_budget(budget),
        "oracle_noise": float(oracle_noise),
        "outlier_share": parse_outlier_share(outlier_share),
        "split": split,
    }
    files = find_datasets(data)
    wanted = [part for name in datasets for part in _matching(name, files)] or files
    # Largest first, so that no worker is left with a long run at the end.
    chosen = sorted(dict.fromkeys(wanted), key=lambda name: -files[name].path.stat().st_size)
    methods = list(dict.fromkeys(methods))
    specs = []
    for name in chosen:
        is_large = large_seeds is not None and count_rows(files[name]) > large_rows
        specs += [
            RunSpec(own.detector, own.query, name, seed, settings=own.settings, **protocol)
            for seed in dict.fromkeys(large_seeds if is_large and large_seeds else seeds)
            for own in methods
        ]
    if not specs:
        raise SettingError("Nothing to run: name at least one method, one data set and one seed.")
    return Plan(files, tuple(specs), device, jobs, time_limit)


def _matching(name: str, files: dict[str, ADBenchFile]) -> list[str]:
    """Return the data set called `name`, or all data sets of that group."""
    matching = [own for own, file in files.items() if name in (own, file.group)]
    if not matching:
        raise UnknownNameError("data set", name, files)
    return matching
