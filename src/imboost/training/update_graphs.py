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
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:
    from imboost.training.loop import Inputs, Objective, Step

# The first update of an optimiser is made without a graph.
warnings.filterwarnings("ignore", message="This instance was constructed with capturable=True")

MAX_GRAPHS = 2  # kept at a time: mini-batches of a full pass have at most two sizes


class Updates:
    """The updates of one call of `train`.

    On a GPU, an update that repeats is captured in a CUDA graph and replayed. Batches that grow
    are padded to one size, so that one graph serves them all.

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
        drawn, key = self._draw(step), _key(step)
        if key not in self._graphs and self._repeats(step):
            self._graphs[key] = _UpdateGraph(step, drawn, self._update, self._device)
            for oldest in list(self._graphs)[:-MAX_GRAPHS]:
                del self._graphs[oldest]
        if key in self._graphs and step.can_capture:
            self._graphs[key].replay(drawn)
        else:
            self._update(step.objective, *(value.to(self._device) for value in drawn))
        self._last = key

    def _repeats(self, step: Step[Any]) -> bool:
        """Return whether the update can be captured, and the previous or next one is like it.

        Within an epoch, steps have the same objective and batch size. The first update is never
        captured: it creates the state of Adam and the handles of CUDA's libraries.
        """
        if self._device.type != "cuda" or not step.can_capture or self._last is None:
            return False
        return not step.ends_epoch or self._last == _key(step)


def _key(step: Step[Any]) -> tuple[Objective[Any], int]:
    """Return what the updates of a graph have in common."""
    return step.objective, step.padded_size


class _UpdateGraph:
    """One captured update and the tensors that hold its inputs.

    Smaller batches are padded: `is_row` is the last of its inputs if there are any.
    """

    def __init__(
        self, step: Step[Any], drawn: Inputs, update: Callable[..., None], device: torch.device
    ) -> None:
        self._size = step.padded_size
        self._is_padded = len(step.rows) < step.padded_size
        inputs = [value.to(device) for value in self._padded(drawn)]
        self._inputs = inputs
        self._graph = torch.cuda.CUDAGraph()
        n_drawn = len(drawn)
        is_row = inputs[-1] if self._is_padded else None
        _capturing.capture(
            self._graph,
            device,
            lambda: update(step.objective, *inputs[:n_drawn], is_row=is_row),
        )

    def replay(self, drawn: Inputs) -> None:
        """Make the update with new inputs."""
        for own, value in zip(self._inputs, self._padded(drawn), strict=True):
            # From pinned memory, a copy does not wait for the GPU.
            own.copy_(value.pin_memory(), non_blocking=True)
        self._graph.replay()

    def _padded(self, drawn: Inputs) -> list[Tensor]:
        """Pad the rows and their noise with zeros, and add the mask of the rows."""
        if not self._is_padded:
            return list(drawn)
        rows, noise, *others = drawn
        n_more = self._size - len(rows)
        is_row = torch.arange(self._size) < len(rows)
        return [F.pad(rows, (0, n_more)), F.pad(noise, (0, n_more)), *others, is_row]


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
            # Streams of high priority come from a pool of their own, so that no other thread
            # computes on this one while it captures.
            self._streams[device] = torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]
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
