"""The scoring of a detector as one torch module, which torch can export to ONNX.

The network is the detector's own. The preprocessing of columns is repeated here in torch, since
that of `imboost.tables.encoder` runs on Arrow and numpy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imboost.arrays import Floats
from imboost.detectors import BaseDetector, Stack
from imboost.detectors.deep.generative import GenerativeDetector
from imboost.detectors.distilled import Distilled
from imboost.errors import SettingError
from imboost.models import MLPVAE, iwae
from imboost.stats.scaling import scale_values
from imboost.tables.encoder import (
    CYCLES,
    CategoryEncoder,
    DatetimeEncoder,
    NumberEncoder,
    TableEncoder,
)
from imboost.tables.layout import Kind
from imboost.tables.number_scaling import MAX_SCALED, TAIL_SLOPE, NumberScaling
from imboost.tables.parsers import MAX_NUMBER


class PerceptronScorer(nn.Module):
    """Scores rows of doubles by the network of a distilled detector.

    The first columns are the blocks of a matrix. One-hot columns follow: the column of each row's
    category in each one-hot block, whose widths are `widths`.
    """

    def __init__(self, detector: Distilled) -> None:
        super().__init__()
        self.network = detector._network

    def forward(
        self, blocks: list[Tensor], categories: list[Tensor], widths: Sequence[int] = ()
    ) -> Tensor:
        """Return the score of every row."""
        first = self.network.first
        hidden: Tensor = first.bias
        start = first.in_features - sum(widths)
        if blocks:
            scaled = self.network.scale(torch.cat(blocks, 1))
            hidden = F.linear(scaled, first.weight[:, :start], first.bias)
        for width, column in zip(widths, categories, strict=True):
            # The product of a one-hot row and the weight is a row of the weight.
            hidden = hidden + F.embedding(column, first.weight[:, start : start + width].t())
            start += width
        return self.network.apply_rest(hidden).double().sigmoid()


class GenerativeScorer(nn.Module):
    """Scores such rows, with nan where missing, by the autoencoder of a deep detector."""

    noise: Tensor
    offset: Tensor
    factor: Tensor

    def __init__(self, detector: GenerativeDetector) -> None:
        super().__init__()
        name = type(detector).__name__
        if not isinstance(detector._scorer, MLPVAE):
            raise SettingError(
                f"{name} cannot be exported to ONNX: its backbone is '{detector.backbone}', and "
                "only 'vae' can be exported."
            )
        self.model = detector._scorer
        self.register_buffer("noise", detector._noise.double())
        self.register_buffer("offset", torch.from_numpy(detector._scaling.offset))
        self.register_buffer("factor", torch.from_numpy(detector._scaling.factor))
        self.limit = detector._scaling.limit

    def forward(
        self, blocks: list[Tensor], categories: list[Tensor], widths: Sequence[int] = ()
    ) -> Tensor:
        """Return the score of every row, rounded to single precision as the detector's is."""
        one_hot = [
            torch.eye(width, dtype=torch.float64)[column]
            for width, column in zip(widths, categories, strict=True)
        ]
        matrix = torch.cat([*blocks, *one_hot], 1)
        missing = matrix.isnan()
        known = scale_values(matrix.masked_fill(missing, 0.0), self.offset, self.factor)
        scaled = known.clamp(-self.limit, self.limit).masked_fill(missing, math.nan)
        log_weights = self.model.log_weights(scaled.t(), self.noise, batch_statistics=False)
        return -iwae(log_weights).mean(0).float().double()


def matrix_scorer(detector: BaseDetector) -> nn.Module:
    """Return the module that scores as a detector does; raise if there is none."""
    if isinstance(detector, Distilled):
        return PerceptronScorer(detector)
    if isinstance(detector, GenerativeDetector):
        return GenerativeScorer(detector)
    name, hint = type(detector).__name__, ""
    if isinstance(detector, Stack):
        hint = " Distill it first with `TableDetector.distill`."
    raise SettingError(
        f"{name} cannot be exported to ONNX: only IMBoost, ALTBI, ODIM and distilled models "
        f"can.{hint}"
    )


class TableScorer(nn.Module):
    """Scores the columns of a table."""

    def __init__(self, encoder: TableEncoder, scorer: nn.Module) -> None:
        super().__init__()
        self.scorer = scorer
        encoders = encoder.encoders.items()
        self._n_categories = [
            one.blocks[0][1] for _, one in encoders if isinstance(one, CategoryEncoder)
        ]
        self._numbers = {
            name: one for name, one in encoders if isinstance(one, NumberEncoder | DatetimeEncoder)
        }
        if len(self._numbers) + len(self._n_categories) < len(encoder.encoders):
            raise SettingError("A column with an encoder of another package cannot be exported.")
        self._numeric_features = [
            (feature.source, feature.part) for feature in encoder.layout.of_kind(Kind.NUMERIC)
        ]

    def forward(self, numbers: list[Tensor], categories: list[Tensor]) -> Tensor:
        """Return the score of every row.

        `numbers` are numeric columns and times in seconds, nan where missing, in the encoder's
        order; `categories` the column of each row's category in the encoded block.
        """
        blocks = self._encode_numbers(torch.stack(numbers, 1)) if numbers else []
        scores: Tensor = self.scorer(blocks, categories, self._n_categories)
        return scores

    def _encode_numbers(self, cells: Tensor) -> list[Tensor]:
        """Return the numeric columns of the matrix, and its missing indicators."""
        names, encoders = list(self._numbers), list(self._numbers.values())
        missing = cells.isnan()
        centers = torch.tensor([one.scaling.center for one in encoders], dtype=torch.float64)
        known = _clip(torch.where(missing, centers, cells), MAX_NUMBER)
        scaled = scale([one.scaling for one in encoders], known)
        blocks = [scaled.masked_fill(missing, math.nan)]
        features = [(name, "") for name in names]
        for cycle, seconds in CYCLES.items():
            own = [
                at
                for at, one in enumerate(encoders)
                if isinstance(one, DatetimeEncoder) and cycle in one.cycles
            ]
            cycles = known[:, own] / seconds
            angles = (cycles - cycles.floor()) * (2 * math.pi)
            for side, values in (("sine", angles.sin()), ("cosine", angles.cos())):
                blocks.append(values.masked_fill(missing[:, own], math.nan))
                features += [(names[at], f"{cycle}, {side}") for at in own]
        order = [features.index(feature) for feature in self._numeric_features]
        indicated = [at for at, one in enumerate(encoders) if one.has_missing]
        return [torch.cat(blocks, 1)[:, order], missing[:, indicated].double()]


def scale(scalings: Sequence[NumberScaling], values: Tensor) -> Tensor:
    """Compute `NumberScaling.transform` of values (rows, columns) without nan.

    All columns of a table have the same kind of scaling.
    """
    center, width = torch.tensor(
        [[one.center / 2 for one in scalings], [one.scale for one in scalings]],
        dtype=torch.float64,
    )
    ratio = _clip((values / 2 - center) / width * 2, MAX_SCALED)
    quantiles = [one.quantiles for one in scalings if one.quantiles is not None]
    if quantiles:
        beyond = ratio - ratio.clamp(-1.0, 1.0)
        return _interpolate(values, np.stack(quantiles)) + _asinh(TAIL_SLOPE * beyond)
    asinh_scale = scalings[0].asinh_scale
    return asinh_scale * _asinh(ratio / asinh_scale) if asinh_scale else ratio


def _interpolate(values: Tensor, quantiles: Floats) -> Tensor:
    """Compute `numpy.interp` for evenly spaced results from -1 to 1.

    `values` is (rows, columns) and `quantiles` (columns, n_quantiles).
    """
    n_columns, n_quantiles = quantiles.shape
    results = np.linspace(-1.0, 1.0, n_quantiles)
    steps = np.diff(quantiles)  # (columns, n_quantiles - 1)
    slopes = np.divide(np.diff(results), steps, out=np.zeros_like(steps), where=steps > 0)
    known, slope = torch.from_numpy(quantiles).flatten(), torch.from_numpy(slopes).flatten()
    low, high = torch.from_numpy(quantiles[:, 0]), torch.from_numpy(quantiles[:, -1])
    inside = values.maximum(low).minimum(high)
    # Binary search for the last quantile that is reached: ONNX has no operator for it.
    column = torch.arange(n_columns)
    reached, stride = torch.zeros_like(values, dtype=torch.int64), 1 << n_quantiles.bit_length()
    while stride := stride // 2:
        ahead = (reached + stride).clamp(max=n_quantiles - 1)
        reached = torch.where(known[column * n_quantiles + ahead] <= inside, ahead, reached)
    reached = reached.clamp(max=n_quantiles - 2)
    rise = slope[column * (n_quantiles - 1) + reached]
    between = (
        torch.from_numpy(results)[reached]
        + (inside - known[column * n_quantiles + reached]) * rise
    )
    # Several quantiles may be equal: the first and the last result win.
    return between.masked_fill(values >= high, 1.0).masked_fill(values < low, -1.0)


def _clip(values: Tensor, limit: float) -> Tensor:
    """Return values between -limit and limit; the export rounds bounds of `clamp` to floats."""
    bound = torch.tensor(limit, dtype=torch.float64)
    return values.maximum(-bound).minimum(bound)


def _asinh(values: Tensor) -> Tensor:
    """Return the inverse hyperbolic sine, which ONNX Runtime lacks in double precision."""
    size = values.abs()
    return values.sign() * torch.log(size + torch.sqrt(size.square() + 1))
