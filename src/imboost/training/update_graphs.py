"""Updates on a GPU, captured in CUDA graphs and replayed.

An update of a small network is hundreds of tiny kernels, and launching each of them from Python
takes longer than its computation. Captured in a CUDA graph they are one launch. A graph computes
on fixed memory: each replay first copies new inputs (rows, noise) into the graph's input tensors.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from imboost.training.loop import Draw, Inputs, Objective, Step

MAX_GRAPHS = 2  # kept at a time: mini-batches of a full pass have at most two sizes

Update = Callable[["Objective[Any]", "Inputs"], None]
"""Makes one update with an objective, given the source of its inputs."""


class Updates:
    """The updates of one call of `train`.

    On a GPU, an update that repeats, with the same objective and batch size, is captured in a CUDA
    graph and replayed.
    """

    def __init__(self, update: Update, generator: torch.Generator, device: torch.device) -> None:
        self._update = update
        self._generator = generator
        self._device = device
        self._graphs: dict[tuple[Objective[Any], int], _UpdateGraph] = {}
        self._last: tuple[Objective[Any], int] | None = None

    def make(self, step: Step[Any]) -> None:
        """Make the update of a step."""
        key = step.objective, len(step.rows)
        if key in self._graphs:
            self._graphs[key].draw(step.rows, self._generator)
            self._graphs[key].replay()
        elif self._device.type == "cuda" and step.can_capture and self._repeats(step):
            graph = _UpdateGraph(self._device)
            graph.capture(self._update, step, self._generator)
            graph.replay()
            self._graphs[key] = graph
            for oldest in list(self._graphs)[:-MAX_GRAPHS]:
                del self._graphs[oldest]
        else:
            self._update(
                step.objective, lambda draw: draw(step.rows, self._generator).to(self._device)
            )
        self._last = key

    def _repeats(self, step: Step[Any]) -> bool:
        """Return whether the update is like the previous one, or the next one is like it.

        Within an epoch, steps have the same objective and batch size. The first update is never
        captured: it creates the state of Adam and the handles of CUDA's libraries.
        """
        if self._last is None:
            return False
        return not step.ends_epoch or self._last == (step.objective, len(step.rows))


class _UpdateGraph:
    """One captured update and the tensors that hold its inputs."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._graph = torch.cuda.CUDAGraph()
        self._draws: list[Draw] = []
        self._inputs: list[Tensor] = []

    def capture(self, update: Update, step: Step[Any], generator: torch.Generator) -> None:
        """Record the kernels of an update, and set the inputs of its first replay."""
        values: list[Tensor] = []

        def add_input(draw: Draw) -> Tensor:
            values.append(draw(step.rows, generator))
            self._draws.append(draw)
            self._inputs.append(torch.empty_like(values[-1], device=self._device))
            return self._inputs[-1]

        _capturing.capture(self._graph, self._device, lambda: update(step.objective, add_input))
        self._set(values)

    def draw(self, rows: NDArray[np.int64], generator: torch.Generator) -> None:
        """Draw the inputs of the next replay, in the order of the capture."""
        self._set([draw(rows, generator) for draw in self._draws])

    def replay(self) -> None:
        """Make the update."""
        self._graph.replay()

    def _set(self, values: list[Tensor]) -> None:
        for own, value in zip(self._inputs, values, strict=True):
            # From pinned memory, a copy does not wait for the GPU.
            own.copy_(value.pin_memory(), non_blocking=True)


class _Capturing(threading.local):
    """Memory and streams for the graphs of a thread.

    The graphs of a thread share one memory pool, since they never run at the same time. torch
    frees a pool with its last graph, so the newest graph is kept.
    """

    lock = threading.Lock()  # one capture at a time: torch shares state between captures

    def __init__(self) -> None:
        self._streams: dict[torch.device, torch.cuda.Stream] = {}
        self._pools: dict[torch.device, Any] = {}
        self._newest: dict[torch.device, torch.cuda.CUDAGraph] = {}

    def capture(
        self, graph: torch.cuda.CUDAGraph, device: torch.device, record: Callable[[], None]
    ) -> None:
        """Record what `record` computes in `graph`; nothing is computed yet."""
        if device not in self._streams:
            self._streams[device] = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
            self._pools[device] = torch.cuda.graph_pool_handle()
        stream = self._streams[device]
        with self.lock:
            # Unlike `torch.cuda.graph`, this does not wait for other threads or free their memory.
            stream.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(stream):
                graph.capture_begin(self._pools[device], capture_error_mode="thread_local")
                try:
                    record()
                finally:
                    graph.capture_end()
        self._newest[device] = graph


_capturing = _Capturing()
