"""Muon for many small matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import Tensor

MOMENTUM = 0.95  # this and the next three are the defaults of torch.optim.Muon
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the polynomial that drives singular values to 1
N_ITERATIONS = 5
EPSILON = 1e-7


class BatchedMuon(torch.optim.Optimizer):
    """Muon [1]_: momentum, with each update replaced by a nearly orthogonal matrix.

    The same updates as `torch.optim.Muon`, which launches a thousand small GPU kernels for a small
    network. Here matrices of one shape are orthogonalised together.

    Parameters
    ----------
    matrices : iterable of tensor
    lr, weight_decay : float

    References
    ----------
    .. [1] Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024.
    """

    def __init__(self, matrices: Iterable[Tensor], *, lr: float, weight_decay: float) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update all matrices; each must have a gradient."""
        if closure is not None:
            raise ValueError("BatchedMuon takes no closure.")
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for matrix in group["params"]:
                if matrix.grad is None:
                    raise ValueError(
                        "Every matrix must have a gradient: those of a shape share momenta."
                    )
                by_shape.setdefault(matrix.shape, []).append(matrix)
            for matrices in by_shape.values():
                self._update(matrices, group)

    def _update(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        gradient = torch.stack([cast("Tensor", matrix.grad) for matrix in matrices])
        state = self.state[matrices[0]]  # the first matrix of a shape keeps the momenta of all
        if not state:
            state["momentum"] = torch.zeros_like(gradient)
        momentum = state["momentum"].lerp_(gradient, 1 - MOMENTUM)
        directions = orthogonalize(gradient.lerp(momentum, MOMENTUM))
        n_rows, n_columns = matrices[0].shape
        rate = group["lr"] * max(1.0, n_rows / n_columns) ** 0.5
        for matrix, direction in zip(matrices, directions, strict=True):
            matrix.mul_(1 - group["lr"] * group["weight_decay"])
            matrix.add_(direction, alpha=-rate)


def orthogonalize(matrices: Tensor) -> Tensor:
    """Return nearly orthogonal matrices (n, rows, columns) by Newton-Schulz iterations.

    >>> flat = orthogonalize(torch.tensor([[[3.0, 0.0, 0.0], [0.0, 0.5, 0.0]]]))
    >>> bool((torch.linalg.svdvals(flat.float()) - 1).abs().max() < 0.35)
    True
    """
    a, b, c = COEFFICIENTS
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = (matrices.mT if is_tall else matrices).bfloat16()
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp_min(EPSILON)
    for _ in range(N_ITERATIONS):
        square = x @ x.mT
        polynomial = torch.baddbmm(square, square, square, beta=b, alpha=c)
        x = torch.baddbmm(x, polynomial, x, beta=a)
    return x.mT if is_tall else x
