"""Score tables and draw training rows on a Ray cluster: each part of a table is one task.

Ray runs a task again on another node if its node fails.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from imboost.arrays import Floats, Indices
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, IMBoostError, SettingError, first_line, require
from imboost.parallel import n_cores, use_one_core
from imboost.persistence.model_folder import CHECKSUMS, read_files, write_files
from imboost.scoring.part_scores import PartFolder
from imboost.scoring.pipeline import Summary, load_table_detector
from imboost.scoring.row_selection import TopRows, max_training_rows, sample_keys, sample_of
from imboost.scoring.table_sample import TableSample
from imboost.tables.arrow_files import to_location
from imboost.tables.files import Part, TableParts

OBJECT_STORE_BYTES = 1 << 29  # of a cluster on this machine: it holds the model and a sample
TASKS_PER_CORE = 4  # tasks submitted at a time, so that no core has to wait
MAX_RETRIES = 3  # of a part whose worker process or node died
WAIT_SECONDS = 1.0  # after which the number of cores is looked up again
SAMPLE_MARGIN = 6  # standard deviations: parts return more rows than the sample will have

Progress = Callable[[int], None]  # called with the number of rows done since the last call


@contextmanager
def ray_cluster(address: str | None = None) -> Iterator[Any]:
    """Connect to a Ray cluster, or start one on all cores of this machine; yield `ray`.

    The address of the head node is such as "10.0.0.1:6379", "auto" on a node of the cluster, or by
    default the environment variable RAY_ADDRESS. A connection that exists is used and kept.
    """
    require("The engine ray", "ray", "ray")
    # Both are read when Ray is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_task_oom_retries", str(MAX_RETRIES))  # by default without end
    import ray

    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS")
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    local = {"num_cpus": n_cores(), "object_store_memory": OBJECT_STORE_BYTES}
    settings |= {"address": address} if address else local | {"include_dashboard": False}
    try:
        ray.init(**settings)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = f"at {address}" if address else "on this machine"
        raise SettingError(f"There is no Ray cluster {where}: {first_line(error)}.") from error
    try:
        yield ray
    finally:
        ray.shutdown()


class RayScores:
    """Scores of a Parquet table by a saved model, computed on a Ray cluster.

    The scores are the same as on one machine. They are written as Parquet parts into a folder; a
    run that was interrupted continues with the parts that are missing.

    Parameters
    ----------
    model : path
        Model folder; the workers need not see it.
    table : path or URL
        Parquet file or folder, on a file system that all nodes see.
    out : path or URL
        Folder for the parts, on a file system that all nodes see.

    Attributes
    ----------
    summary : Summary
        What is known about the scored rows.
    n_continued : int
        Rows that an earlier run had scored.
    seconds : float
        Time of this run.

    Examples
    --------
    >>> scores = RayScores("a.model", "s3://shop/a", "s3://shop/scores")  # doctest: +SKIP
    >>> scores.run("10.0.0.1:6379")  # doctest: +SKIP
    """

    def __init__(self, model: Path | str, table: Path | str, out: Path | str) -> None:
        self.detector = load_table_detector(Path(model))
        self._contents = read_files(Path(model))
        digest = sha256((Path(model) / CHECKSUMS).read_bytes()).hexdigest()
        self.folder = PartFolder(to_location(out), TableParts.find(table), digest)
        self.summary, self.n_continued, self.seconds = Summary(), 0, 0.0

    def run(self, address: str | None = None, progress: Progress = lambda _: None) -> None:
        """Score all parts that are not finished, check the rows and write the manifest."""
        folder, start = self.folder, perf_counter()
        folder.prepare()
        finished = folder.finished()
        left = [part for part in folder.table.parts if part.name not in finished]
        for summary in finished.values():
            self.summary.add(summary)
        self.n_continued = self.summary.n_rows
        progress(self.n_continued)
        if left:
            with ray_cluster(address) as ray:
                bundle = ray.put(self._contents)
                for part, summary in map_on_ray(ray, _score_part, left, folder, [bundle]):
                    self.summary.add(summary)
                    progress(part.n_rows)
        folder.finish()
        self.seconds = perf_counter() - start


def draw_sample_on_ray(
    table: TableParts,
    seed: int = 0,
    label_column: str | None = None,
    *,
    address: str | None = None,
    progress: Progress = lambda _: None,
) -> TableSample:
    """Draw the training rows that `draw_sample` would draw, on a Ray cluster."""
    n, n_rows = max_training_rows(len(table.columns)), table.n_rows
    # The keys of the sample are almost surely above this bound; all rows are if they are few.
    lowest = 1.0 - (n + SAMPLE_MARGIN * math.sqrt(n)) / n_rows
    drawn = TopRows(n)
    with ray_cluster(address) as ray:
        settings = table, n, lowest, seed, label_column
        for part, found in map_on_ray(ray, _draw_part, table.parts, *settings):
            drawn.add(*found)
            progress(part.n_rows)
    if len(drawn.keys) < min(n, n_rows):
        raise DataError(f"Drew {len(drawn.keys):,} rows instead of {n:,}: choose another seed.")
    return sample_of(drawn, n_rows)


def map_on_ray(
    ray: Any, function: Callable[..., Any], parts: Sequence[Part], *arguments: Any
) -> Iterator[tuple[Part, Any]]:
    """Yield each part with the result of a function, in the order in which they are ready."""
    task = ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(_run_task)
    shared = ray.put((function, arguments))
    todo = deque(parts)
    running: dict[Any, Part] = {}
    while todo or running:
        n_cores = max(1, int(ray.cluster_resources().get("CPU", 0)))  # nodes may come and go
        while todo and len(running) < TASKS_PER_CORE * n_cores:
            part = todo.popleft()
            running[task.remote(part, shared)] = part
        done, _ = ray.wait(list(running), timeout=WAIT_SECONDS)
        for one in done:
            yield (part := running.pop(one)), _result(ray, one, part)


def _result(ray: Any, task: Any, part: Part) -> Any:
    """Return the result of a task; raise its error as on one machine."""
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, DataError):
            raise error.cause from None
        if isinstance(error.cause, ImportError):
            raise SettingError(
                f"The workers of the cluster lack a package: {error.cause}"
            ) from None
        raise
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        raise DataError(
            f"The rows {part.first_row:,} to {part.first_row + part.n_rows - 1:,} of the table "
            f"({part.name}, from {part.path}) ended {MAX_RETRIES + 1} worker processes; they may "
            "need more memory than a worker has."
        ) from error
    except ray.exceptions.RayError as error:
        raise SettingError(
            f"The Ray cluster failed: {first_line(error)}. Start the command again to continue."
        ) from error


def _run_task(part: Part, shared: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    """Call a function in a worker; its errors need nothing but their message to be sent."""
    function, arguments = shared
    try:
        return function(part, *arguments)
    except IMBoostError as error:
        raise DataError(str(error)) from None


_loaded: dict[str, TableDetector] = {}  # the model of this worker process, by its hash


def _score_part(part: Part, folder: PartFolder, bundle: list[Any]) -> Summary:
    """Score a part in a worker process, which keeps the model for its next parts."""
    if folder.model not in _loaded:
        import ray

        use_one_core()
        _loaded.clear()
        with TemporaryDirectory(prefix="imboost-") as parent:
            model = Path(parent, "model")
            write_files(model, ray.get(bundle[0]))
            _loaded[folder.model] = load_table_detector(model)
    return folder.score(_loaded[folder.model], part)


def _draw_part(
    part: Part, table: TableParts, n: int, lowest: float, seed: int, label_column: str | None
) -> tuple[Indices, pa.Table, Floats]:
    """Return the rows of a part that may belong to the sample: numbers, cells and keys."""
    drawn, first_row = TopRows(n, lowest), part.first_row
    for batch in table.read(part):
        drawn.add(first_row, batch, sample_keys(batch, first_row, seed, label_column))
        first_row += batch.num_rows
    found = drawn.first(n)
    return np.array(found.numbers, dtype=np.int64), found.table, drawn.keys
