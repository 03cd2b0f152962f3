"""Many runs: in parallel, resumable, with a line for every run that fails."""

from __future__ import annotations

import math
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from imboost.datasets.dataset import Dataset
from imboost_bench.datasets.adbench import ADBenchFile, read_dataset
from imboost_bench.datasets.splits import OneClassSplitError
from imboost_bench.run.plan import Plan
from imboost_bench.run.protocol import RunSpec
from imboost_bench.run.results import Line, ResultFile

Experiment = Callable[[RunSpec, Dataset, str], Iterable[Line]]
"""Runs a specification on a data set and a device and returns its lines, such as `run`."""

Outcome = list[Line] | dict[str, Any]
"""The lines of a run, or the status and the reason of a run without a result."""


def run_all(
    experiment: Experiment[Line],
    plan: Plan,
    results: ResultFile[Line],
    on_done: Callable[[RunSpec, Line], None],
) -> None:
    """Do the runs of a plan that are not finished yet; append each as soon as it ends.

    Worker processes import `experiment`. `on_done` is called with each run and its last line.
    """
    results.repair()
    finished = results.finished(plan.time_limit)
    todo = [spec for spec in plan.specs if spec not in finished]
    runs = [(experiment, spec, plan.files[spec.dataset], plan.device) for spec in todo]
    # Only a process of its own can be stopped at a time limit.
    if plan.jobs > 1 or plan.time_limit is not None:
        outcomes = _in_pool(runs, plan.jobs, plan.time_limit)
    else:
        outcomes = ((own[1], _run_one(*own)) for own in runs)
    for spec, outcome in outcomes:
        if isinstance(outcome, dict):
            group = plan.files[spec.dataset].group
            outcome = [results.line_type.of(spec, group, round=-1, **outcome)]
        results.append(outcome)
        on_done(spec, outcome[-1])


def _in_pool(
    runs: Iterable[tuple[Any, ...]], n_workers: int, time_limit: float | None
) -> Iterator[tuple[RunSpec, Outcome[Any]]]:
    """Yield the outcome of each run, in the order in which runs end."""
    from pebble import ProcessExpired, ProcessPool

    context = multiprocessing.get_context("spawn")
    with ProcessPool(n_workers, initializer=_end_with_parent, context=context) as pool:
        specs: dict[Future[Outcome[Any]], RunSpec] = {
            pool.schedule(_run_one, own, timeout=time_limit): own[1] for own in runs
        }
        try:
            for future in as_completed(specs):
                outcome: Outcome[Any]
                try:
                    outcome = future.result()
                except TimeoutError:
                    reason = f"over the time limit of {time_limit:g} s"
                    outcome = {"status": "skipped", "reason": reason, "seconds": time_limit}
                except (ProcessExpired, BrokenProcessPool):
                    reason = "the worker process died (out of memory?)"
                    outcome = {"status": "failed", "reason": reason}
                yield specs.pop(future), outcome
        finally:
            if specs:
                pool.stop()  # type: ignore[no-untyped-call]


def _end_with_parent() -> None:
    """End this worker process when its parent is killed; it would wait forever otherwise."""

    def wait_for_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()


def _run_one(
    experiment: Experiment[Line], spec: RunSpec, file: ADBenchFile, device: str
) -> Outcome[Line]:
    """Do one run on one core; an error is returned as the reason of the failure."""
    try:
        with limit_to_one_core():
            return list(experiment(spec, read_dataset(file), device))
    except OneClassSplitError as error:
        return {"status": "skipped", "reason": str(error), "seconds": math.inf}
    except Exception as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


@contextmanager
def limit_to_one_core() -> Iterator[None]:
    """Compute on one core: the models are small, and running times stay comparable."""
    from imboost import parallel
    from imboost.training import loop

    # The last is for scikit-learn's k-means.
    with parallel.without_threads(), loop.one_thread(), parallel.limit_library_threads():
        yield
