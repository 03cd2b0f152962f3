"""Log-densities of cells, given the decoder's output."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from imboost.tables.layout import Kind, Layout

EXACT_LOGVAR_WEIGHT = 0.5
"""The weight of the log-variance in a true Gaussian density."""
LOG_TWO_PI = math.log(2 * math.pi)
FLOOR_WEIGHT = 1e-3
"""Weight of the broad Gaussian in a density with a floor."""


def gaussian_log_density(
    x: Tensor, mean: Tensor, logvar: Tensor, logvar_weight: float = EXACT_LOGVAR_WEIGHT
) -> Tensor:
    r"""Log-density of every cell of `x` under its own Gaussian.

    .. math:: -\frac{(x - \mu)^2}{2 \sigma^2} - c \log \sigma^2 - \frac{1}{2} \log 2 \pi

    The factor c is `logvar_weight`: one half gives the density, 1 reproduces the paper's figures.
    """
    squared = (x - mean).square() * (-logvar).exp()
    # One multiply-add: this is the largest tensor of the whole computation.
    return torch.add(squared, logvar, alpha=2 * logvar_weight).add(LOG_TWO_PI).mul(-0.5)


def with_floor(log_density: Tensor, squared_distance: Tensor, n_features: int) -> Tensor:
    """Return the log-density of a mixture with a broad Gaussian of standard deviation 1.

    It bounds the loss of a row near the training range from above, so that maximising the loss of
    outliers stays stable. The squared distances are those of the rows from the Gaussian's mean.
    """
    floor = -0.5 * (squared_distance + n_features * LOG_TWO_PI)
    return torch.logaddexp(log_density + math.log1p(-FLOOR_WEIGHT), floor + math.log(FLOOR_WEIGHT))


def can_branch(values: Tensor) -> bool:
    """Return whether the computation may depend on a value of a tensor.

    torch.export and CUDA graphs record one computation for all values, and reading a value waits
    until the GPU has computed it.
    """
    return not (values.is_cuda or torch.compiler.is_compiling())


class CellDensity:
    """Log-density of every cell, by the kind of its column.

    - A numeric cell has a Gaussian density with a mean in the unit interval. A missing value (nan)
      has no gradient and the density one standard deviation from the mean, so that missing values
      alone make a row neither more nor less outlying.
    - The columns of a one-hot encoded category share one categorical distribution.
    - Missing-value indicators are Bernoulli. Together they have the weight of one column:
      otherwise values missing at random would dominate the score.

    Without a layout, all columns are numeric.
    """

    def __init__(
        self, layout: Layout | None = None, logvar_weight: float = EXACT_LOGVAR_WEIGHT
    ) -> None:
        self._logvar_weight = logvar_weight
        self._n_numeric = layout.n_of_kind(Kind.NUMERIC) if layout else None
        self._n_indicators = layout.n_of_kind(Kind.MISSING_INDICATOR) if layout else 0
        categories = layout.of_kind(Kind.CATEGORICAL) if layout else ()
        self._widths = [feature.stop - feature.start for feature in categories]

    @property
    def missing_indicators(self) -> slice:
        """Positions of the missing-value indicators; empty if there are none."""
        start = self._n_numeric or 0
        return slice(start, start + self._n_indicators)

    def __call__(self, x: Tensor, output: Tensor, logvar: Tensor) -> Tensor:
        """Return log-densities of rows (features, 1, rows), in the shape of the decoder's output.

        The shape is (members, features, samples, rows).
        """
        n = self._n_numeric
        cells = self._numbers(x[:n], output[:, :n], logvar[:, :n])
        if n is None or n == len(x):
            return cells
        parts, end = [cells], n
        if self._n_indicators:
            end = n + self._n_indicators
            signs = 2 * x[n:end] - 1
            parts.append(F.logsigmoid(signs * output[:, n:end]) / self._n_indicators)
        for width in self._widths:
            start, end = end, end + width
            parts.append(x[start:end] * F.log_softmax(output[:, start:end], dim=1))
        return torch.cat(parts, dim=1)

    def expected(self, output: Tensor) -> Tensor:
        """Return the mean of every cell: of numbers, indicators and one-hot columns."""
        n_first = output.shape[1] - sum(self._widths)
        first, *categories = torch.split(output, [n_first, *self._widths], dim=1)
        return torch.cat(
            [torch.sigmoid(first), *(F.softmax(part, dim=1) for part in categories)], 1
        )

    def _numbers(self, x: Tensor, output: Tensor, logvar: Tensor) -> Tensor:
        missing = x.isnan()
        mean = torch.sigmoid(output)
        if can_branch(missing) and not missing.any():
            return gaussian_log_density(x, mean, logvar, self._logvar_weight)
        # Imputed first: a gradient through nan is nan, even where the value is discarded.
        cells = gaussian_log_density(x.nan_to_num(0.0), mean, logvar, self._logvar_weight)
        # Detached: otherwise training would shrink the variances of missing cells.
        typical = gaussian_log_density(
            (0.5 * logvar).exp(), torch.zeros_like(mean), logvar, self._logvar_weight
        )
        return torch.where(missing, typical.detach(), cells)
