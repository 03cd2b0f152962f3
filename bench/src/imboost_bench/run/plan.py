"""The runs of a benchmark call, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from imboost.detectors.device import resolve_device
from imboost.errors import SettingError, UnknownNameError
from imboost.validation import check_number
from imboost_bench.baselines import make_detector, make_strategy
from imboost_bench.datasets.adbench import ADBenchFile, count_rows, find_datasets
from imboost_bench.datasets.splits import SPLITS, STRATIFIED
from imboost_bench.run.budget import Budget
from imboost_bench.run.preprocessing import Preprocessing
from imboost_bench.run.protocol import RunSpec
from imboost_bench.run.sampling import ALL_OUTLIERS, parse_outlier_share
from imboost_bench.run.settings import Settings

SEEDS = (100, 200, 300)  # the paper's


@dataclass(frozen=True)
class Method:
    """A detector, its query strategy, and settings other than their defaults."""

    detector: str
    query: str
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def named(
        cls, detector: str, query: str | None = None, settings: Settings | None = None
    ) -> Method:
        """Check names and settings; `query` defaults to the detector's own strategy."""
        settings = settings or Settings()
        for name in {"random_state", "device"} & settings.of_detector.keys():
            raise SettingError(f"The benchmark itself sets {name}: leave it out of the settings.")
        instance = make_detector(detector, **settings.of_detector)
        instance.check_settings()
        query = query or instance.default_query
        make_strategy(query, **settings.of_query)
        try:
            Preprocessing(**settings.of_table)  # type: ignore[arg-type]
        except TypeError as error:
            raise SettingError(
                f"Settings of a table are scaling, missing and imputation: {error}."
            ) from None
        return cls(detector, query, settings)


@dataclass(frozen=True)
class Plan:
    """The runs of a benchmark call.

    Parameters
    ----------
    files : dict
        Data sets by name.
    specs : tuple of RunSpec
        All runs, finished or not.
    device : {"auto", "cpu", "cuda"}
    jobs : int
        Worker processes.
    time_limit : float, optional
        Seconds after which a run is stopped and skipped.
    """

    files: dict[str, ADBenchFile]
    specs: tuple[RunSpec, ...]
    device: str = "cpu"
    jobs: int = 1
    time_limit: float | None = None


def make_plan(
    data: Path,
    *,
    methods: Iterable[Method],
    datasets: Sequence[str] = (),
    seeds: Sequence[int] = SEEDS,
    large_seeds: Sequence[int] | None = None,
    large_rows: int = 50_000,
    rounds: int = 5,
    budget: Budget | None = None,
    oracle_noise: float = 0.0,
    outlier_share: str = ALL_OUTLIERS,
    split: str = STRATIFIED,
    device: str = "cpu",
    jobs: int = 1,
    time_limit: float | None = None,
) -> Plan:
    """Check every name and number of a call before anything runs.

    Parameters
    ----------
    data : Path
        Folder with ADBench files.
    methods : iterable of Method
        Methods to compare.
    datasets : sequence of str
        Names of data sets, or of groups such as "MVTec-AD"; all in `data` if empty.
    large_seeds : sequence of int, optional
        Seeds for the data sets of more than `large_rows` rows; `seeds` if not given.
    seeds, rounds, budget, oracle_noise, outlier_share, split
        As in `RunSpec`.
    device, jobs, time_limit
        As in `Plan`.
    """
    budget = budget or Budget()
    budget.check()
    check_number("rounds", rounds, minimum=0, whole=True)
    check_number("oracle_noise", oracle_noise, minimum=0.0, maximum=1.0)
    outlier_share = parse_outlier_share(outlier_share)
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    check_number("jobs", jobs, minimum=1, whole=True)
    if time_limit is not None:
        check_number("time_limit", time_limit, above=0.0)
    resolve_device(device)
    files = find_datasets(data)
    wanted = [part for name in datasets for part in _matching(name, files)] or files
    # Largest first, so that no worker is left with a long run at the end.
    chosen = sorted(dict.fromkeys(wanted), key=lambda name: -files[name].path.stat().st_size)
    methods = list(dict.fromkeys(methods))
    noise = float(oracle_noise)
    specs = []
    for name in chosen:
        own_seeds = seeds
        if large_seeds is not None and count_rows(files[name]) > large_rows:
            own_seeds = large_seeds
        specs += [
            RunSpec(
                *(one.detector, one.query, name, seed, rounds, budget, noise, one.settings),
                outlier_share=outlier_share,
                split=split,
            )
            for seed in dict.fromkeys(own_seeds)
            for one in methods
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
