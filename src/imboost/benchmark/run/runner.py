"""Many runs: in parallel, resumable, with a line for every one that fails."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from imboost.benchmark.run.plan import Plan
from imboost.benchmark.run.protocol import RoundResult, RunSpec, run
from imboost.benchmark.run.results import ResultFile
from imboost.datasets.adbench import ADBenchFile, read_dataset


def run_all(
    plan: Plan, results: ResultFile, on_done: Callable[[RunSpec, RoundResult], None]
) -> None:
    """Do the runs of a plan that are not finished yet; append each as soon as it ends.

    Parameters
    ----------
    plan : Plan
    results : ResultFile
        Read to know what is finished, and appended to.
    on_done : callable
        Called after each run with its specification and its last line.
    """
    results.repair()
    settled = results.settled(plan.time_limit)
    todo = [spec for spec in plan.specs if spec not in settled]
    for spec, lines in _execute(todo, plan):
        results.append(lines)
        on_done(spec, lines[-1])


def _execute(todo: Sequence[RunSpec], plan: Plan) -> Iterator[tuple[RunSpec, list[RoundResult]]]:
    """Yield the lines of each run, in the order in which runs end."""
    if plan.jobs > 1 or plan.time_limit is not None:  # only a process can be stopped in time
        yield from _in_pool(todo, plan)
        return
    for spec in todo:
        yield spec, _run_one(spec, plan.files[spec.dataset], plan.device)


def _in_pool(todo: Sequence[RunSpec], plan: Plan) -> Iterator[tuple[RunSpec, list[RoundResult]]]:
    from pebble import ProcessPool

    context = multiprocessing.get_context("spawn")
    with ProcessPool(plan.jobs, initializer=_prepare_worker, context=context) as pool:
        waiting: dict[Future[list[RoundResult]], RunSpec] = {}
        for spec in todo:
            args = (spec, plan.files[spec.dataset], plan.device)
            waiting[pool.schedule(_run_one, args, timeout=plan.time_limit)] = spec
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    spec = waiting.pop(future)
                    yield spec, _outcome(future, spec, plan)
        finally:
            if waiting:
                pool.stop()  # type: ignore[no-untyped-call]


def _outcome(future: Future[list[RoundResult]], spec: RunSpec, plan: Plan) -> list[RoundResult]:
    """Return the lines of a run, or the one that says why it has none."""
    from pebble import ProcessExpired

    group = plan.files[spec.dataset].group
    try:
        return list(future.result())
    except TimeoutError:
        limit = plan.time_limit or 0.0
        reason = f"over the time limit of {limit:g} s"
        return [without_result(spec, group, "skipped", reason, seconds=limit)]
    except (ProcessExpired, BrokenProcessPool):
        reason = "the worker process died (out of memory?)"
        return [without_result(spec, group, "failed", reason)]


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
        return [without_result(spec, file.group, "failed", f"{type(error).__name__}: {error}")]


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


def without_result(
    spec: RunSpec, group: str, status: str, reason: str, seconds: float = 0.0
) -> RoundResult:
    """Return the line of a run that failed or was given up."""
    return RoundResult.of(spec, group, round=-1, status=status, reason=reason, seconds=seconds)
