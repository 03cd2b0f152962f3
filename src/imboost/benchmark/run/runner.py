"""Many runs: in parallel, resumable, with a line for every run that fails."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from imboost.benchmark.run.plan import Plan
from imboost.benchmark.run.protocol import RunSpec
from imboost.benchmark.run.results import Line, ResultFile
from imboost.datasets.adbench import ADBenchFile, read_dataset
from imboost.datasets.dataset import Dataset

Experiment = Callable[[RunSpec, Dataset, str], Iterable[Line]]
"""Runs a specification on a data set and a device and returns its lines, such as `run`."""


def run_all(
    experiment: Experiment[Line],
    plan: Plan,
    results: ResultFile[Line],
    on_done: Callable[[RunSpec, Line], None],
) -> None:
    """Do the runs of a plan that are not finished yet; append each as soon as it ends.

    Parameters
    ----------
    experiment : callable
        A module-level function, since worker processes import it.
    plan : Plan
    results : ResultFile
        Its finished runs are skipped.
    on_done : callable
        Called after each run with its specification and its last line.
    """
    results.repair()
    finished = results.finished(plan.time_limit)
    todo = [spec for spec in plan.specs if spec not in finished]
    # Only a process of its own can be stopped at a time limit.
    execute = _in_pool if plan.jobs > 1 or plan.time_limit is not None else _in_turn
    for spec, outcome in execute(experiment, todo, plan):
        if isinstance(outcome, dict):
            group = plan.files[spec.dataset].group
            outcome = [results.line_type.of(spec, group, round=-1, **outcome)]
        results.append(outcome)
        on_done(spec, outcome[-1])


RunOutcome = list[Line] | dict[str, Any]
"""The lines of a run, or the status and the reason of a run without a result."""


def _in_turn(
    experiment: Experiment[Line], todo: Sequence[RunSpec], plan: Plan
) -> Iterator[tuple[RunSpec, RunOutcome[Line]]]:
    for spec in todo:
        yield spec, _run_one(experiment, spec, plan.files[spec.dataset], plan.device)


def _in_pool(
    experiment: Experiment[Line], todo: Sequence[RunSpec], plan: Plan
) -> Iterator[tuple[RunSpec, RunOutcome[Line]]]:
    """Yield the outcome of each run, in the order in which runs end."""
    from pebble import ProcessPool

    context = multiprocessing.get_context("spawn")
    with ProcessPool(plan.jobs, initializer=_prepare_worker, context=context) as pool:
        waiting: dict[Future[RunOutcome[Line]], RunSpec] = {}
        for spec in todo:
            args = (experiment, spec, plan.files[spec.dataset], plan.device)
            waiting[pool.schedule(_run_one, args, timeout=plan.time_limit)] = spec
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), _outcome(future, plan.time_limit)
        finally:
            if waiting:
                pool.stop()  # type: ignore[no-untyped-call]


def _outcome(future: Future[RunOutcome[Line]], time_limit: float | None) -> RunOutcome[Line]:
    from pebble import ProcessExpired

    try:
        return future.result()
    except TimeoutError:
        reason = f"over the time limit of {time_limit:g} s"
        return {"status": "skipped", "reason": reason, "seconds": time_limit}
    except (ProcessExpired, BrokenProcessPool):
        return {"status": "failed", "reason": "the worker process died (out of memory?)"}


def _prepare_worker() -> None:
    """Keep a worker from outliving the program."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the program is killed; a pool's workers would wait forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_one(
    experiment: Experiment[Line], spec: RunSpec, file: ADBenchFile, device: str
) -> RunOutcome[Line]:
    """Do one run on one core; any error becomes its reason to fail."""
    try:
        with limit_to_one_core():
            return list(experiment(spec, read_dataset(file), device))
    except Exception as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


@contextmanager
def limit_to_one_core() -> Iterator[None]:
    """Compute on one core: the models are small, and running times stay comparable."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):  # scikit-learn's k-means takes all cores otherwise
            yield
    finally:
        torch.set_num_threads(before)
