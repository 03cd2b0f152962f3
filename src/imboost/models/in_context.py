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

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imboost.labels import UNLABELLED

SCORES = ("isolation_forest", "knn", "pca", "lof")  # unsupervised scores that mark a column
FREQUENCIES = (1, 2, 4, 8)  # of the periodic features of a rank, in half periods
N_CELL_FEATURES = 3 + 2 * len(FREQUENCIES)
KeysAndValues = tuple[Tensor, Tensor]

QUERY = 2  # of a row outside the context, beside the labels -1, 0 and 1
HIDDEN_FACTOR = 3  # width of the hidden layer by that of the network
MIN_DEVIATION = 1e-6  # of a constant column, by the largest deviation from the mean
TOKEN_BLOCK = 8  # products of other lengths may round by the place of a row in its batch
MIN_RANK = 1e-3  # so that normal quantiles are finite


class InContextNetwork(nn.Module):
    """Predicts the log-odds of being an outlier for all rows of a table in one pass.

    Cell layers attend over the tokens of a row and over the rows of a column. Each row then is a
    single, wider token, and row layers attend over the context rows.

    `width`, `n_layers` and `n_heads` are the length of a cell's token, the number of cell layers
    and their attention heads, and `row_width`, a multiple of `width`, `n_row_layers` and
    `n_row_heads` the same of the row layers.
    """

    def __init__(
        self,
        width: int,
        n_layers: int,
        n_heads: int,
        row_width: int,
        n_row_layers: int,
        n_row_heads: int,
    ) -> None:
        super().__init__()
        if row_width % width:
            raise ValueError(f"row_width must be a multiple of width, got {row_width}, {width}.")
        self.n_cls_tokens = row_width // width  # these tokens of a row become its wide token
        self.cell = nn.Sequential(
            nn.Linear(N_CELL_FEATURES, width), nn.GELU(), nn.Linear(width, width)
        )
        self.score_embedding = nn.Parameter(torch.zeros(len(SCORES), width))
        self.cls_tokens = nn.Parameter(torch.randn(self.n_cls_tokens, width))
        self.label = nn.Embedding(QUERY + 2, width)  # from -1 to QUERY
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {"columns": ColumnAttention(width, n_heads), "rows": RowLayer(width, n_heads)}
            )
            for _ in range(n_layers)
        )
        self.row_norm = nn.LayerNorm(row_width)
        self.row_label = nn.Embedding(QUERY + 2, row_width)
        self.row_layers = nn.ModuleList(
            RowLayer(row_width, n_row_heads) for _ in range(n_row_layers)
        )
        self.norm = nn.LayerNorm(row_width)
        self.head = nn.Sequential(
            nn.Linear(row_width, 2 * row_width), nn.GELU(), nn.Linear(2 * row_width, 1)
        )

    def forward(self, values: Tensor, scores: Tensor, labels: Tensor) -> Tensor:
        """Return log-odds (tables, rows) of all rows, the first of which are the context.

        `values` (tables, rows, columns) are columns in any unit, finite or nan where missing,
        `scores` (tables, rows, scores) the unsupervised scores in the order of `SCORES`, and
        `labels` (tables, context rows) 0, 1 or -1.
        """
        n_context, n_rows = labels.shape[1], values.shape[1]
        scaling, score_scaling = (
            CellScaling.fit(part[:, :n_context]) for part in (values, scores)
        )
        labels = F.pad(labels, (0, n_rows - n_context), value=QUERY)
        return self._run((scaling, score_scaling), values, scores, labels, n_context=n_context)[0]

    def encode_context(self, values: Tensor, scores: Tensor, labels: Tensor) -> Context:
        """Encode context rows once, to predict other rows of the table by `predict`."""
        scalings = CellScaling.fit(values), CellScaling.fit(scores)
        _, cache = self._run(scalings, values, scores, labels, n_context=labels.shape[1])
        return Context(scalings, cache)

    def predict(self, context: Context, values: Tensor, scores: Tensor) -> Tensor:
        """Return log-odds (tables, rows) of rows outside the context."""
        labels = torch.full(values.shape[:2], QUERY, device=values.device)
        return self._run(context.scalings, values, scores, labels, cache=context.cache)[0]

    def _run(
        self,
        scalings: tuple[CellScaling, CellScaling],
        values: Tensor,
        scores: Tensor,
        labels: Tensor,
        *,
        n_context: int = 0,
        cache: list[KeysAndValues] | None = None,
    ) -> tuple[Tensor, list[KeysAndValues]]:
        """Return log-odds, and the keys and values that the rows of each layer attended to.

        These are of the first `n_context` rows, or the `cache` of an encoded context.
        """
        used: list[KeysAndValues] = []

        def attend(layer: Any, tokens: Tensor) -> Tensor:
            own = cache[len(used)] if cache else layer.keys_and_values(tokens[:, :n_context])
            used.append(own)
            attended: Tensor = layer(tokens, *own)
            return attended

        scaling, score_scaling = scalings
        tokens = self._embed(scaling.transform(values), score_scaling.transform(scores), labels)
        for layer in cast("Iterable[nn.ModuleDict]", self.layers):
            tokens = attend(layer["rows"], layer["columns"](tokens))
        joined = tokens[:, :, : self.n_cls_tokens].flatten(2)  # (tables, rows, row width)
        tokens = self.row_norm(joined) + self.row_label(labels - UNLABELLED)
        tokens = tokens.unsqueeze(2)
        for row_layer in self.row_layers:
            tokens = attend(row_layer, tokens)
        log_odds: Tensor = self.head(self.norm(tokens))
        return log_odds[:, :, 0, 0], used

    def _embed(self, cells: Tensor, scores: Tensor, labels: Tensor) -> Tensor:
        """Return tokens (tables, rows, tokens, width): CLS tokens, then all cells."""
        label = self.label(labels - UNLABELLED).unsqueeze(2)
        # Every cell carries the label of its row, so that the first layer can compare them.
        parts = [self.cls_tokens, self.cell(scores) + self.score_embedding, self.cell(cells)]
        return torch.cat([part + label for part in parts], 2)


class ColumnAttention(nn.Module):
    """Lets the tokens of each row attend to each other."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm = nn.LayerNorm(width)
        self.input = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        _zero_init(self.output)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (tables, rows, tokens, width) to tokens of the same shape."""
        n_tokens = tokens.shape[2]
        n_padding = -n_tokens % TOKEN_BLOCK
        padded = F.pad(tokens, (0, 0, 0, n_padding))
        query, key, value = _heads(self.input(self.norm(padded)), 3, self.n_heads)
        # Written out, since fused attention is slow on many short sequences.
        similarity = query @ key.mT * query.shape[-1] ** -0.5
        is_padding = torch.arange(n_tokens + n_padding, device=tokens.device) >= n_tokens
        weights = torch.softmax(similarity.masked_fill(is_padding, -torch.inf), -1)
        result: Tensor = tokens + self.output(_join(weights @ value))[:, :, :n_tokens]
        return result


class RowLayer(nn.Module):
    """Lets each token attend to the context rows of its column, then applies a perceptron."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm, self.hidden_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.hidden = nn.Linear(width, HIDDEN_FACTOR * width)
        self.last = nn.Linear(HIDDEN_FACTOR * width, width)
        _zero_init(self.output)
        _zero_init(self.last)

    def keys_and_values(self, context: Tensor) -> KeysAndValues:
        """Return what rows attend to, each (tables, tokens, heads, context rows, width)."""
        mapped = self.key_value(self.norm(context))
        key, value = _heads(mapped.transpose(1, 2), 2, self.n_heads)
        return key, value

    def forward(self, tokens: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Map tokens (tables, rows, tokens, width) to tokens of the same shape."""
        [query] = _heads(self.query(self.norm(tokens)).transpose(1, 2), 1, self.n_heads)
        attended = F.scaled_dot_product_attention(
            query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)
        )
        tokens = tokens + self.output(_join(attended.view(query.shape))).transpose(1, 2)
        hidden = F.gelu(self.hidden(self.hidden_norm(tokens)))
        result: Tensor = tokens + self.last(hidden)
        return result


def _zero_init(layer: nn.Linear) -> None:
    """Set a layer to 0, so that its residual block begins as the identity."""
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)


def _heads(mapped: Tensor, n_parts: int, n_heads: int) -> list[Tensor]:
    """Split (tables, sequences, length, parts x width) into parts with a dimension of heads."""
    return [
        part.view(*part.shape[:-1], n_heads, -1).transpose(-3, -2)
        for part in mapped.chunk(n_parts, -1)
    ]


def _join(heads: Tensor) -> Tensor:
    return heads.transpose(-3, -2).flatten(-2)


class CellScaling(NamedTuple):
    """Scales cells by the context rows of their column, so that units do not matter.

    >>> values = torch.tensor([[[1.0], [3.0], [torch.nan]]])
    >>> CellScaling.fit(values[:, :2]).transform(values)[0, 2, 0, [0, 1, -1]].tolist()
    [0.0, 0.0, 1.0]
    """

    mean: Tensor  # (tables, 1, columns), as those without a comment
    deviation: Tensor
    ordered: Tensor  # (tables, columns, context rows), ascending; missing values are infinite
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
        """Return features of each cell: scaled value, rank, periodic features, missing or not.

        Large values are compressed by a logarithm. The rank is mapped to a normal quantile, and
        to sines and cosines, with which a network learns sharp limits more quickly (Gorishniy et
        al., "On embeddings for numerical features in tabular deep learning", NeurIPS 2022).
        """
        missing = values.isnan()
        scaled = (values.masked_fill(missing, 0.0) - self.mean) / self.deviation
        scaled = 2 * scaled.sign() * torch.log1p(scaled.abs() / 2)
        filled = values.nan_to_num(torch.inf).mT.contiguous()  # (tables, columns, rows)
        below = torch.searchsorted(self.ordered, filled)
        not_above = torch.searchsorted(self.ordered, filled, right=True)
        rank = ((below + not_above).mT / 2 + 0.5) / (self.n_known + 1)
        rank = rank.clamp(MIN_RANK, 1 - MIN_RANK)
        angle = torch.pi * rank[..., None] * torch.tensor(FREQUENCIES, device=rank.device)
        numbers = torch.stack([scaled, torch.special.ndtri(rank)], -1)
        features = torch.cat([numbers, angle.sin(), angle.cos(), missing[..., None]], -1)
        features[..., :-1].masked_fill_(missing[..., None], 0.0)
        return features


class Context(NamedTuple):
    """Context rows as the network has encoded them."""

    scalings: tuple[CellScaling, CellScaling]  # of the columns and of the unsupervised scores
    cache: list[KeysAndValues]  # what other rows attend to, one pair per layer
