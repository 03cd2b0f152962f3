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

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imboost.labels import UNLABELLED

SCORES = ("isolation_forest", "knn", "pca", "lof")  # unsupervised scores that mark a column
N_CELL_FEATURES = 3
QUERY = 2  # of a row outside the context, beside the labels -1, 0 and 1
HIDDEN_FACTOR = 3  # width of the hidden layer by that of the network
MIN_DEVIATION = 1e-6  # of a constant column


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
            Columns in any unit, nan where missing. The context rows come first.
        scores : tensor (tables, rows, scores)
            Unsupervised scores, in the order of `SCORES`.
        labels : tensor (tables, context rows)
            0, 1 or -1.
        """
        n_context, n_rows = labels.shape[1], values.shape[1]
        cells = self.cell(cell_features(values, n_context))
        marked = self.cell(cell_features(scores, n_context)) + self.score_marks
        labels = F.pad(labels, (0, n_rows - n_context), value=QUERY)
        label = self.label(labels - UNLABELLED).unsqueeze(2)
        # Every cell carries the label of its row, so that the first layer can compare them.
        tokens = torch.cat([label, marked + label, cells + label], 2)  # (..., tokens, width)
        for layer in self.layers:
            tokens = layer(tokens, n_context)
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
        query, key, value = self._heads(0, tokens)
        # Written out, since fused attention is slow on many short sequences.
        weights = torch.softmax(query @ key.mT * query.shape[-1] ** -0.5, -1)
        tokens = tokens + self._join(0, weights @ value)
        columns = tokens.transpose(1, 2)  # (tables, tokens, rows, width)
        query, key, value = (part.flatten(0, 1) for part in self._heads(1, columns))
        key, value = key[..., :n_context, :], value[..., :n_context, :]
        attended = F.scaled_dot_product_attention(query, key, value)
        attended = self._join(1, attended).view(columns.shape)
        tokens = tokens + attended.transpose(1, 2)
        hidden = F.gelu(self.hidden(self.norms[2](tokens)))
        result: Tensor = tokens + self.last(hidden)
        return result

    def _heads(self, block: int, tokens: Tensor) -> tuple[Tensor, ...]:
        """Return queries, keys and values (tables, sequences, heads, length, width)."""
        mapped = self.inputs[block](self.norms[block](tokens))
        return tuple(
            part.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)
            for part in mapped.chunk(3, -1)
        )

    def _join(self, block: int, heads: Tensor) -> Tensor:
        joined: Tensor = self.outputs[block](heads.transpose(-3, -2).flatten(-2))
        return joined


def cell_features(values: Tensor, n_context: int) -> Tensor:
    """Return the scaled value of each cell, its rank and whether it is missing.

    Scaling and ranks are those of the context rows, so that units do not matter. Large values are
    compressed by a logarithm; the rank is mapped to a normal quantile.

    >>> cell_features(torch.tensor([[[1.0], [3.0], [torch.nan]]]), 2)[0, :, 0].tolist()[2]
    [0.0, 0.0, 1.0]
    """
    missing = values.isnan()
    known = ~missing[:, :n_context]
    filled = values.masked_fill(missing, 0.0)
    n_known = known.sum(1, keepdim=True).clamp_min(1)
    mean = filled[:, :n_context].sum(1, keepdim=True) / n_known
    centered = filled - mean
    variance = (centered[:, :n_context].square() * known).sum(1, keepdim=True) / n_known
    scaled = centered / variance.sqrt().clamp_min(MIN_DEVIATION)
    scaled = 2 * scaled.sign() * torch.log1p(scaled.abs() / 2)
    quantile = torch.special.ndtri(_ranks(values, n_context, n_known))
    features = torch.stack([scaled, quantile], -1).masked_fill(missing[..., None], 0.0)
    return torch.cat([features, missing[..., None].to(features.dtype)], -1)


def _ranks(values: Tensor, n_context: int, n_known: Tensor) -> Tensor:
    """Return the ranks of values among those of the context rows, above 0 and below 1."""
    filled = values.nan_to_num(torch.inf).mT.contiguous()  # (tables, columns, rows)
    ordered = filled[..., :n_context].sort(-1).values
    below = torch.searchsorted(ordered, filled)
    not_above = torch.searchsorted(ordered, filled, right=True)
    middle = (below + not_above).mT / 2
    return ((middle + 0.5) / (n_known + 1)).clamp(1e-3, 1 - 1e-3)
