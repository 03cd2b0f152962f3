"""Updates on a GPU, captured in CUDA graphs and replayed.

An update of a small network is hundreds of tiny kernels, and launching each of them from Python
takes longer than its computation. Captured in a CUDA graph they are one launch. A graph computes
on fixed memory: each replay first copies new inputs (rows, noise) into the graph's input tensors.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from imboost.training.loop import Inputs, Objective, Step

# The first update of an optimiser is made without a graph.
warnings.filterwarnings("ignore", message="This instance was constructed with capturable=True")

MAX_GRAPHS = 2  # kept at a time: mini-batches of a full pass have at most two sizes

_capturing = threading.Lock()  # one capture at a time: torch shares state between captures


class Updates:
    """The updates of one call of `train`; on a GPU, those that repeat are captured and replayed.

    `draw` draws the inputs of a step on the CPU, and `update` makes an update, given the objective
    and its inputs on the device.
    """

    def __init__(
        self,
        draw: Callable[[Step[Any]], Inputs],
        update: Callable[..., None],
        device: torch.device,
    ) -> None:
        self._draw = draw
        self._update = update
        self._device = device
        self._graphs: dict[
            tuple[Objective[Any], int], tuple[torch.cuda.CUDAGraph, list[Tensor]]
        ] = {}
        self._last: tuple[Objective[Any], int] | None = None

    def make(self, step: Step[Any]) -> None:
        """Make the update of a step."""
        drawn, key = self._draw(step), (step.objective, len(step.rows))
        # Within an epoch, steps have the same objective and batch size. The first update is never
        # captured: it creates the state of Adam and the handles of CUDA's libraries.
        repeats = self._last is not None and (not step.ends_epoch or self._last == key)
        self._last = key
        if self._device.type != "cuda" or not (step.can_capture and repeats):
            self._update(step.objective, *(value.to(self._device) for value in drawn))
            return
        if key not in self._graphs:
            self._graphs[key] = self._capture(step, [value.to(self._device) for value in drawn])
            for oldest in list(self._graphs)[:-MAX_GRAPHS]:
                del self._graphs[oldest]
        graph, inputs = self._graphs[key]
        for held, value in zip(inputs, drawn, strict=True):
            # From pinned memory, a copy does not wait for the GPU.
            held.copy_(value.pin_memory(), non_blocking=True)
        graph.replay()

    def _capture(
        self, step: Step[Any], inputs: list[Tensor]
    ) -> tuple[torch.cuda.CUDAGraph, list[Tensor]]:
        """Record an update of the given inputs in a graph; nothing is computed yet."""
        graph = torch.cuda.CUDAGraph()
        # The graphs never run at the same time, so they share one memory pool.
        pool = next((known.pool() for known, _ in self._graphs.values()), None)
        # Streams of high priority come from a pool of their own, so that no other thread computes
        # on this one. Unlike `torch.cuda.graph`, this neither waits for other threads nor frees
        # their memory.
        stream = torch.cuda.Stream(self._device, priority=-1)  # type: ignore[no-untyped-call]
        with _capturing:
            stream.wait_stream(torch.cuda.current_stream(self._device))
            with torch.cuda.stream(stream):
                graph.capture_begin(pool, capture_error_mode="thread_local")
                try:
                    self._update(step.objective, *inputs)
                finally:
                    graph.capture_end()
        return graph, inputs
