"""What a call of the benchmark is to do, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from imboost.benchmark.run.budget import Budget
from imboost.benchmark.run.preparation import Preparation
from imboost.benchmark.run.protocol import RunSpec
from imboost.benchmark.run.settings import Settings
from imboost.datasets.adbench import ADBenchFile, count_rows, find_datasets
from imboost.detectors import make_detector
from imboost.detectors.device import resolve_device
from imboost.errors import SettingError, UnknownNameError
from imboost.query import make_strategy
from imboost.validation import check_number

SEEDS = (100, 200, 300)
"""The paper's."""

OWN_SETTINGS = {"random_state", "device"}
"""Settings of detectors that a run gives."""


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
        """Check names and settings; without `query` the detector's own default is taken."""
        settings = settings or Settings()
        for name in OWN_SETTINGS & settings.of_detector.keys():
            raise SettingError(f"The benchmark itself sets {name}: leave it out of the settings.")
        made = make_detector(detector, **settings.of_detector)
        made.check_settings()
        query = query or made.default_query
        make_strategy(query, **settings.of_query)
        try:
            Preparation(**settings.of_table)  # type: ignore[arg-type]
        except TypeError as error:
            raise SettingError(
                f"Settings of a table are scaling, missing and filling: {error}."
            ) from None
        return cls(detector, query, settings)


@dataclass(frozen=True)
class Plan:
    """What a call of the benchmark is to do.

    Parameters
    ----------
    files : dict
        Data sets by name.
    specs : tuple of RunSpec
        All runs asked for.
    device : str
        Where detectors compute.
    jobs : int
        Worker processes.
    time_limit : float, optional
        Seconds after which a run is given up.
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
        What to compare.
    datasets : sequence of str
        Names of data sets, or of groups such as "MVTec-AD"; all below `data` if empty.
    seeds : sequence of int
    large_seeds : sequence of int, optional
        Seeds for the data sets of more than `large_rows` rows; `seeds` if not given.
    large_rows : int
    rounds : int
        Rounds of questions.
    budget : Budget, optional
        Questions per round; the paper's if not given.
    oracle_noise : float
        Share of the rows about which the oracle is wrong.
    device : str
        Where detectors compute.
    jobs : int
        Worker processes.
    time_limit : float, optional
        Seconds after which a run is given up.
    """
    budget = budget or Budget()
    budget.check()
    check_number("rounds", rounds, minimum=0, whole=True)
    check_number("oracle_noise", oracle_noise, minimum=0.0, maximum=1.0)
    check_number("jobs", jobs, minimum=1, whole=True)
    if time_limit is not None:
        check_number("time_limit", time_limit, above=0.0)
    resolve_device(device)
    files = find_datasets(data)
    wanted = [part for name in datasets for part in _parts(name, files)] or files
    # The largest first: the last worker then has little left when the others are done.
    chosen = sorted(dict.fromkeys(wanted), key=lambda name: -files[name].path.stat().st_size)

    compared = list(dict.fromkeys(methods))

    def seeds_for(name: str) -> Sequence[int]:
        if large_seeds is None or count_rows(files[name]) <= large_rows:
            return seeds
        return large_seeds

    specs = tuple(
        RunSpec(
            method.detector,
            method.query,
            name,
            seed,
            rounds,
            budget,
            float(oracle_noise),
            method.settings,
        )
        for name in chosen
        for seed in dict.fromkeys(seeds_for(name))
        for method in compared
    )
    if not specs:
        raise SettingError("Nothing to run: name a method, a data set and a seed at least.")
    return Plan(files, specs, device, jobs, time_limit)


def _parts(name: str, files: dict[str, ADBenchFile]) -> list[str]:
    """Return the data set called `name`, or all parts of the group called so."""
    parts = [own for own, file in files.items() if name in (own, file.group)]
    if not parts:
        raise UnknownNameError("data set", name, files)
    return parts
