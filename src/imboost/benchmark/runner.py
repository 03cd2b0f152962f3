"""Many runs: in parallel, resumable, with a line for every one that fails."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from imboost.benchmark.protocol import RoundResult, RunSpec, run
from imboost.benchmark.results import ResultFile
from imboost.data.adbench import ADBenchFile, find_datasets, read_dataset
from imboost.detectors import find_detector
from imboost.detectors.device import resolve_device
from imboost.errors import UnknownNameError
from imboost.query import make_strategy
from imboost.validation import check_number


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
    """

    files: dict[str, ADBenchFile]
    specs: tuple[RunSpec, ...]
    device: str = "cpu"
    jobs: int = 1


def make_plan(
    data: Path,
    *,
    detector: str,
    query: str | None = None,
    datasets: Sequence[str] = (),
    seeds: Sequence[int] = (100, 200, 300),
    rounds: int = 5,
    device: str = "cpu",
    jobs: int = 1,
) -> Plan:
    """Check every name and number of a call before anything runs.

    Parameters
    ----------
    data : Path
        Folder with ADBench files.
    detector : str
        Name of the detector.
    query : str, optional
        Name of the strategy; the detector's own default if not given.
    datasets : sequence of str
        Names of data sets, or of groups such as "MVTec-AD"; all below `data` if empty.
    seeds : sequence of int
    rounds : int
        Rounds of questions.
    device : str
        Where detectors compute.
    jobs : int
        Worker processes.
    """
    detector_class = find_detector(detector)
    query = query or detector_class.default_query
    make_strategy(query)
    check_number("rounds", rounds, minimum=0, whole=True)
    check_number("jobs", jobs, minimum=1, whole=True)
    resolve_device(device)
    files = find_datasets(data)
    wanted = [part for name in datasets for part in _parts(name, files)] or files
    # The largest first: the last worker then has little left when the others are done.
    chosen = sorted(dict.fromkeys(wanted), key=lambda name: -files[name].path.stat().st_size)
    specs = tuple(
        RunSpec(detector, query, name, seed, rounds)
        for name in chosen
        for seed in dict.fromkeys(seeds)
    )
    return Plan(files, specs, device, jobs)


def _parts(name: str, files: dict[str, ADBenchFile]) -> list[str]:
    """Return the data set called `name`, or all parts of the group called so."""
    parts = [own for own, file in files.items() if name in (own, file.group)]
    if not parts:
        raise UnknownNameError("data set", name, files)
    return parts


def run_all(
    plan: Plan, results: ResultFile, on_done: Callable[[RunSpec, bool, str], None]
) -> None:
    """Do the runs of a plan that are not finished yet; append each as soon as it ends.

    Parameters
    ----------
    plan : Plan
    results : ResultFile
        Read to know what is finished, and appended to.
    on_done : callable
        Called after each run with its specification, whether it went well, and the reason
        if it did not.
    """
    results.repair()
    finished = results.finished()
    todo = [spec for spec in plan.specs if spec not in finished]
    for spec, lines in _execute(todo, plan):
        results.append(lines)
        last = lines[-1]
        on_done(spec, last.status == "ok", last.reason)


def _execute(todo: Sequence[RunSpec], plan: Plan) -> Iterator[tuple[RunSpec, list[RoundResult]]]:
    """Yield the lines of each run, in the order in which runs end."""
    if plan.jobs == 1:
        for spec in todo:
            yield spec, _run_one(spec, plan.files[spec.dataset], plan.device)
        return
    # A worker that dies (out of memory, say) breaks its pool and takes the runs beside it
    # along. They are tried again alone, so that only the guilty one is recorded.
    retry: list[RunSpec] = []
    for spec, outcome in _in_pool(todo, plan, plan.jobs):
        if isinstance(outcome, BrokenProcessPool):
            retry.append(spec)
        else:
            yield spec, outcome
    for spec in retry:
        for _, outcome in _in_pool([spec], plan, 1):
            if isinstance(outcome, BrokenProcessPool):
                reason = "the worker process died (out of memory?)"
                yield spec, [_failure(spec, plan.files[spec.dataset].group, reason)]
            else:
                yield spec, outcome


def _in_pool(
    specs: Iterable[RunSpec], plan: Plan, jobs: int
) -> Iterator[tuple[RunSpec, list[RoundResult] | BrokenProcessPool]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare_worker) as pool:
        waiting: dict[Future[list[RoundResult]], RunSpec] = {
            pool.submit(_run_one, spec, plan.files[spec.dataset], plan.device): spec
            for spec in specs
        }
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    spec = waiting.pop(future)
                    try:
                        yield spec, future.result()
                    except BrokenProcessPool as error:
                        yield spec, error
        finally:
            for future in waiting:
                future.cancel()


def _prepare_worker() -> None:
    """Keep a worker from outliving the program."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the program is killed; a pool's workers would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_one(spec: RunSpec, file: ADBenchFile, device: str) -> list[RoundResult]:
    """Do one run on one core; whatever goes wrong in it becomes its one line."""
    try:
        with one_thread():
            return list(run(spec, read_dataset(file), device))
    except Exception as error:
        return [_failure(spec, file.group, f"{type(error).__name__}: {error}")]


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one core for a while: the models are small, and times stay comparable."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):  # scikit-learn's k-means takes all cores otherwise
            yield
    finally:
        torch.set_num_threads(before)


def _failure(spec: RunSpec, group: str, reason: str) -> RoundResult:
    return RoundResult(
        detector=spec.detector,
        query=spec.query,
        dataset=spec.dataset,
        group=group,
        seed=spec.seed,
        rounds=spec.rounds,
        round=-1,
        status="failed",
        reason=reason,
    )
