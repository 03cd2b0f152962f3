"""A network that predicts outliers in context, without training on the user's table.

Its input is a table some rows of which are labelled. Cells are tokens. Every layer attends over
the tokens of a row, then over the context rows of a column, as in TabPFN [1]_. No position is
encoded, so that the order of rows and of columns does not matter.

References
----------
.. [1] Hollmann et al., "Accurate predictions on small data with a tabular foundation model",
   Nature 2025.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imboost.labels import UNLABELLED

SCORES = ("isolation_forest", "knn", "pca", "lof")  # unsupervised scores that mark a column
N_CELL_FEATURES = 3
QUERY = 2  # of a row outside the context, beside the labels -1, 0 and 1
HIDDEN_FACTOR = 3  # width of the hidden layer by that of the network
MIN_DEVIATION = 1e-6  # of a constant column, by the largest deviation from the mean
MIN_RANK = 1e-3  # so that normal quantiles are finite


class InContextNetwork(nn.Module):
    """Predicts the log-odds of being an outlier for all rows of a table in one pass.

    Parameters
    ----------
    width : int
        Length of a token.
    n_layers, n_heads : int
    """

    def __init__(self, width: int, n_layers: int, n_heads: int) -> None:
        super().__init__()
        self.cell = nn.Sequential(
            nn.Linear(N_CELL_FEATURES, width), nn.GELU(), nn.Linear(width, width)
        )
        self.score_marks = nn.Parameter(torch.zeros(len(SCORES), width))
        self.label = nn.Embedding(QUERY + 2, width)  # from -1 to QUERY
        self.layers = nn.ModuleList(TableLayer(width, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, 1))

    def forward(self, values: Tensor, scores: Tensor, labels: Tensor) -> Tensor:
        """Return log-odds (tables, rows).

        Parameters
        ----------
        values : tensor (tables, rows, columns)
            Columns in any unit, finite or nan where missing. The context rows come first.
        scores : tensor (tables, rows, scores)
            Unsupervised scores, in the order of `SCORES`.
        labels : tensor (tables, context rows)
            0, 1 or -1.
        """
        n_context, n_rows = labels.shape[1], values.shape[1]
        scaling, score_scaling = (
            CellScaling.fit(part[:, :n_context]) for part in (values, scores)
        )
        labels = F.pad(labels, (0, n_rows - n_context), value=QUERY)
        tokens = self._embed(scaling.transform(values), score_scaling.transform(scores), labels)
        for layer in self._layers:
            tokens = layer(tokens, n_context)
        return self._log_odds(tokens)

    def encode_context(self, values: Tensor, scores: Tensor, labels: Tensor) -> Context:
        """Encode context rows once, to predict other rows of the table by `predict`."""
        scaling, score_scaling = CellScaling.fit(values), CellScaling.fit(scores)
        tokens = self._embed(scaling.transform(values), score_scaling.transform(scores), labels)
        pairs = []
        for layer in self._layers:
            tokens = layer.attend_over_columns(tokens)
            pairs.append(layer.keys_and_values(tokens))
            tokens = layer.attend_over_rows(tokens, *pairs[-1])
        return Context(scaling, score_scaling, pairs)

    def predict(self, context: Context, values: Tensor, scores: Tensor) -> Tensor:
        """Return log-odds (tables, rows) of rows outside the context."""
        labels = torch.full(values.shape[:2], QUERY, device=values.device)
        tokens = self._embed(
            context.scaling.transform(values), context.score_scaling.transform(scores), labels
        )
        for layer, pair in zip(self._layers, context.keys_and_values, strict=True):
            tokens = layer.attend_over_rows(layer.attend_over_columns(tokens), *pair)
        return self._log_odds(tokens)

    @property
    def _layers(self) -> list[TableLayer]:
        return [layer for layer in self.layers if isinstance(layer, TableLayer)]

    def _embed(self, cells: Tensor, scores: Tensor, labels: Tensor) -> Tensor:
        """Return tokens (tables, rows, tokens, width): the label, then all cells."""
        label = self.label(labels - UNLABELLED).unsqueeze(2)
        marked = self.cell(scores) + self.score_marks
        # Every cell carries the label of its row, so that the first layer can compare them.
        return torch.cat([label, marked + label, self.cell(cells) + label], 2)

    def _log_odds(self, tokens: Tensor) -> Tensor:
        log_odds: Tensor = self.head(self.norm(tokens[:, :, 0]))
        return log_odds[..., 0]


class TableLayer(nn.Module):
    """Attention over the tokens of a row, attention over the rows of a column, a perceptron."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.inputs = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(2))
        self.outputs = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.hidden = nn.Linear(width, HIDDEN_FACTOR * width)
        self.last = nn.Linear(HIDDEN_FACTOR * width, width)
        for layer in (*self.outputs, self.last):  # each block begins as the identity
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, tokens: Tensor, n_context: int) -> Tensor:
        """Map tokens (tables, rows, tokens, width) to tokens of the same shape."""
        tokens = self.attend_over_columns(tokens)
        return self.attend_over_rows(tokens, *self.keys_and_values(tokens[:, :n_context]))

    def attend_over_columns(self, tokens: Tensor) -> Tensor:
        """Let the tokens of each row attend to each other."""
        query, key, value = self._heads(0, tokens, slice(0, 3))
        # Written out, since fused attention is slow on many short sequences.
        weights = torch.softmax(query @ key.mT * query.shape[-1] ** -0.5, -1)
        return tokens + self._join(0, weights @ value)

    def keys_and_values(self, context: Tensor) -> tuple[Tensor, Tensor]:
        """Return what rows attend to, each (tables, tokens, heads, context rows, width)."""
        key, value = self._heads(1, context.transpose(1, 2), slice(1, 3))
        return key, value

    def attend_over_rows(self, tokens: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Let each token attend to the context rows of its column, then apply the perceptron."""
        [query] = self._heads(1, tokens.transpose(1, 2), slice(0, 1))
        attended = F.scaled_dot_product_attention(
            query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)
        )
        attended = self._join(1, attended.view(query.shape))
        tokens = tokens + attended.transpose(1, 2)
        hidden = F.gelu(self.hidden(self.norms[2](tokens)))
        result: Tensor = tokens + self.last(hidden)
        return result

    def _heads(self, block: int, tokens: Tensor, parts: slice) -> tuple[Tensor, ...]:
        """Return some of queries, keys and values, (tables, sequences, heads, length, width)."""
        layer, width = cast("nn.Linear", self.inputs[block]), tokens.shape[-1]
        rows = slice(parts.start * width, parts.stop * width)
        mapped = F.linear(self.norms[block](tokens), layer.weight[rows], layer.bias[rows])
        return tuple(
            part.view(*part.shape[:-1], self.n_heads, -1).transpose(-3, -2)
            for part in mapped.chunk(parts.stop - parts.start, -1)
        )

    def _join(self, block: int, heads: Tensor) -> Tensor:
        joined: Tensor = self.outputs[block](heads.transpose(-3, -2).flatten(-2))
        return joined


class CellScaling(NamedTuple):
    """Scales cells by the context rows of their column, so that units do not matter.

    Parameters
    ----------
    mean, deviation : tensor (tables, 1, columns)
    ordered : tensor (tables, columns, context rows)
        The values of each column in ascending order, missing ones as infinity.
    n_known : tensor (tables, 1, columns)
        Context rows with a value.

    Examples
    --------
    >>> values = torch.tensor([[[1.0], [3.0], [torch.nan]]])
    >>> CellScaling.fit(values[:, :2]).transform(values)[0, :, 0].tolist()[2]
    [0.0, 0.0, 1.0]
    """

    mean: Tensor
    deviation: Tensor
    ordered: Tensor
    n_known: Tensor

    @classmethod
    def fit(cls, context: Tensor) -> CellScaling:
        """Fit to context rows (tables, rows, columns)."""
        known = ~context.isnan()
        filled = context.masked_fill(~known, 0.0)
        n_known = known.sum(1, keepdim=True).clamp_min(1)
        mean = filled.sum(1, keepdim=True) / n_known
        deviations = (filled - mean).abs() * known
        largest = deviations.amax(1, keepdim=True)
        largest = torch.where(largest > 0, largest, 1.0)  # large squares would overflow
        variance = (deviations / largest).square().sum(1, keepdim=True) / n_known
        ordered = context.nan_to_num(torch.inf).mT.contiguous().sort(-1).values
        deviation = largest * variance.sqrt().clamp_min(MIN_DEVIATION)
        return cls(mean, deviation, ordered, n_known)

    def transform(self, values: Tensor) -> Tensor:
        """Return the scaled value of each cell, its rank and whether it is missing.

        Large values are compressed by a logarithm; the rank is mapped to a normal quantile.
        """
        missing = values.isnan()
        scaled = (values.masked_fill(missing, 0.0) - self.mean) / self.deviation
        scaled = 2 * scaled.sign() * torch.log1p(scaled.abs() / 2)
        filled = values.nan_to_num(torch.inf).mT.contiguous()  # (tables, columns, rows)
        below = torch.searchsorted(self.ordered, filled)
        not_above = torch.searchsorted(self.ordered, filled, right=True)
        rank = ((below + not_above).mT / 2 + 0.5) / (self.n_known + 1)
        quantile = torch.special.ndtri(rank.clamp(MIN_RANK, 1 - MIN_RANK))
        features = torch.stack([scaled, quantile], -1).masked_fill(missing[..., None], 0.0)
        return torch.cat([features, missing[..., None].to(features.dtype)], -1)


class Context(NamedTuple):
    """Context rows as the network has encoded them.

    Parameters
    ----------
    scaling, score_scaling : CellScaling
        Of the columns and of the unsupervised scores.
    keys_and_values : list of (tensor, tensor)
        What other rows attend to, one pair per layer.
    """

    scaling: CellScaling
    score_scaling: CellScaling
    keys_and_values: list[tuple[Tensor, Tensor]]
