"""Updates on a GPU, captured in CUDA graphs and replayed.

An update of a small network is hundreds of tiny kernels, and launching each of them from Python
takes longer than its computation. Captured in a CUDA graph they are one launch. A graph computes
on fixed memory: each replay first copies new inputs (rows, noise) into the graph's input tensors.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from imboost.training.loop import Inputs, Objective, Step

MAX_GRAPHS = 2  # kept at a time: mini-batches of a full pass have at most two sizes


class Updates:
    """The updates of one call of `train`.

    On a GPU, an update that repeats, with the same objective and batch size, is captured in a CUDA
    graph and replayed.

    Parameters
    ----------
    draw : callable
        Draws the inputs of a step on the CPU.
    update : callable
        Makes an update, given the objective and its inputs on the device.
    device : torch.device
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
        self._graphs: dict[tuple[Objective[Any], int], _UpdateGraph] = {}
        self._last: tuple[Objective[Any], int] | None = None

    def make(self, step: Step[Any]) -> None:
        """Make the update of a step."""
        key = step.objective, len(step.rows)
        drawn = self._draw(step)
        if key in self._graphs:
            self._graphs[key].replay(drawn)
        else:
            inputs = tuple(value.to(self._device) for value in drawn)
            if self._device.type == "cuda" and step.can_capture and self._repeats(step):
                graph = _UpdateGraph(inputs, lambda: self._update(step.objective, *inputs))
                graph.replay()
                self._graphs[key] = graph
                for oldest in list(self._graphs)[:-MAX_GRAPHS]:
                    del self._graphs[oldest]
            else:
                self._update(step.objective, *inputs)
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

    def __init__(self, inputs: Inputs, update: Callable[[], None]) -> None:
        self._inputs = inputs
        self._graph = torch.cuda.CUDAGraph()
        _capturing.capture(self._graph, inputs[0].device, update)

    def replay(self, values: Inputs | None = None) -> None:
        """Make the update, with new values of the inputs if given."""
        for own, value in zip(self._inputs, values or (), strict=values is not None):
            # From pinned memory, a copy does not wait for the GPU.
            own.copy_(value.pin_memory(), non_blocking=True)
        self._graph.replay()


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
