"""Likelihoods of a decoder's output."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from imboost.tables.layout import Kind, Layout

EXACT_LOGVAR_WEIGHT = 0.5
"""The weight of the log-variance in a true Gaussian density."""
LOG_TWO_PI = math.log(2 * math.pi)


def gaussian_log_density(
    x: Tensor, mean: Tensor, logvar: Tensor, logvar_weight: float = EXACT_LOGVAR_WEIGHT
) -> Tensor:
    r"""Log-density of every cell of `x` under its own Gaussian.

    .. math:: -\frac{(x - \mu)^2}{2 \sigma^2} - c \log \sigma^2 - \frac{1}{2} \log 2 \pi

    Parameters
    ----------
    x, mean, logvar : Tensor
        Values and the parameters of their Gaussians, of shapes that broadcast.
    logvar_weight : float
        The factor c. One half gives the density; the paper's figures were made with 1,
        which charges uncertain reconstructions twice as much.
    """
    squared = (x - mean).square() * (-logvar).exp()
    # One multiply-add over the cells; this line is the widest of the whole computation.
    return torch.add(squared, logvar, alpha=2 * logvar_weight).add(LOG_TWO_PI).mul(-0.5)


class CellDensity:
    """Log-density of every cell, by what it is: a number, the level of a category or a gap.

    Numbers have a Gaussian each, with a mean in the unit interval. The columns of a category
    share one distribution over its levels, which counts in the column of the row's level. A
    missing number (nan) teaches nothing, and counts as much as is to be expected of a known one:
    rows with many gaps are neither odd nor usual for it. Which cells are missing counts in the
    columns of gaps, all of them together as much as one column: where gaps come by chance, their
    number would else drown what the other cells say.

    Parameters
    ----------
    layout : Layout or None
        What the columns are; all are numbers if there is none.
    logvar_weight : float
        See `gaussian_log_density`.
    """

    def __init__(
        self, layout: Layout | None = None, logvar_weight: float = EXACT_LOGVAR_WEIGHT
    ) -> None:
        self._logvar_weight = logvar_weight
        self._n_numbers = layout.n_of_kind(Kind.NUMERIC) if layout else None
        self._n_gaps = layout.n_of_kind(Kind.MISSING_INDICATOR) if layout else 0
        categories = layout.of_kind(Kind.CATEGORICAL) if layout else ()
        self._widths = [feature.stop - feature.start for feature in categories]

    @property
    def gaps(self) -> slice:
        """Where the columns of gaps stand; nowhere without any."""
        start = self._n_numbers or 0
        return slice(start, start + self._n_gaps)

    def __call__(self, x: Tensor, output: Tensor, logvar: Tensor) -> Tensor:
        """Return log-densities, (members, features, samples, rows).

        Parameters
        ----------
        x : Tensor of shape (features, 1, rows)
            The rows; missing numbers are nan.
        output, logvar : Tensor of shape (members, features, samples, rows)
            What the decoder says of them.
        """
        n = self._n_numbers
        cells = self._numbers(x[:n], output[:, :n], logvar[:, :n])
        if n is None or n == len(x):
            return cells
        parts, end = [cells], n
        if self._n_gaps:
            end = n + self._n_gaps
            signs = 2 * x[n:end] - 1
            parts.append(F.logsigmoid(signs * output[:, n:end]) / self._n_gaps)
        for width in self._widths:
            start, end = end, end + width
            parts.append(x[start:end] * F.log_softmax(output[:, start:end], dim=1))
        return torch.cat(parts, dim=1)

    def expected(self, output: Tensor) -> Tensor:
        """Return the means of the cells: of numbers, of gaps, and of the columns of levels."""
        n_first = output.shape[1] - sum(self._widths)
        first, *levels = torch.split(output, [n_first, *self._widths], dim=1)
        return torch.cat([torch.sigmoid(first), *(F.softmax(part, dim=1) for part in levels)], 1)

    def _numbers(self, x: Tensor, output: Tensor, logvar: Tensor) -> Tensor:
        missing = x.isnan()
        mean = torch.sigmoid(output)
        if not missing.any():
            return gaussian_log_density(x, mean, logvar, self._logvar_weight)
        # Filled first: a gradient through nan is nan, even where its value is thrown away.
        cells = gaussian_log_density(x.nan_to_num(0.0), mean, logvar, self._logvar_weight)
        # One standard deviation away; a constant, or else variances would shrink without end.
        usual = gaussian_log_density(
            (0.5 * logvar).exp(), torch.zeros_like(mean), logvar, self._logvar_weight
        )
        return torch.where(missing, usual.detach(), cells)
