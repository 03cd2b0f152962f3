"""One batch of synthetic tables with answers: what the network learns to predict."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from imboost.labels import UNLABELLED
from imboost.models.in_context import SCORES, CellScaling
from imboost.pretraining.answers import draw_answers
from imboost.pretraining.columns import write_columns
from imboost.pretraining.outliers import SPARE_ROWS, draw_kind, draw_share
from imboost.pretraining.random_source import RandomSource
from imboost.pretraining.settings import MIN_COLUMNS, MIN_CONTEXT, PretrainingSettings
from imboost.pretraining.structures import STRUCTURES
from imboost.pretraining.unsupervised_scores import score_tables

N_STRUCTURES = 4  # different structures and kinds of outliers in a batch
CONTEXT_SIZES = (32, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048)
HIDDEN_VARIABLES = 2.0  # variables of a table by its columns; the others are not shown


class Task(NamedTuple):
    """A batch of tables, whose context rows come first.

    Parameters
    ----------
    values : tensor (tables, rows, columns)
        The columns of a table, nan where missing.
    scores : tensor (tables, rows, scores)
        Unsupervised scores, in the order of `SCORES`.
    labels : tensor (tables, context rows)
        Answers: 0, 1 or -1.
    is_outlier : boolean tensor (tables, rows)
    """

    values: Tensor
    scores: Tensor
    labels: Tensor
    is_outlier: Tensor

    @property
    def n_context(self) -> int:
        """Number of context rows."""
        return self.labels.shape[1]

    @property
    def is_target(self) -> Tensor:
        """Which rows (tables, rows) have no answer, and so are to be predicted."""
        n_query = self.is_outlier.shape[1] - self.n_context
        return torch.nn.functional.pad(self.labels == UNLABELLED, (0, n_query), value=True)


def draw_task(settings: PretrainingSettings, source: RandomSource) -> Task:
    """Draw as many tables of one shape as an update takes."""
    sizes = [n for n in CONTEXT_SIZES if MIN_CONTEXT <= n <= settings.max_context]
    n_context = source.choice(sizes)
    n_columns = source.number(MIN_COLUMNS, settings.max_columns)
    n_rows = n_context + settings.n_query
    tokens = n_rows * (n_columns + len(SCORES) + 1)
    n_tables = max(1, round(settings.n_tokens / tokens / N_STRUCTURES))
    parts = [_draw_tables(source, n_tables, n_rows, n_columns) for _ in range(N_STRUCTURES)]
    values, is_outlier = (torch.cat(part) for part in zip(*parts, strict=True))
    scaled = CellScaling.fit(values[:, :n_context]).transform(values)[..., 0]
    scores = score_tables(source, scaled, n_context)
    labels = draw_answers(source, is_outlier[:, :n_context], scores[:, :n_context])
    return Task(values, scores, labels, is_outlier)


def _draw_tables(
    source: RandomSource, n_tables: int, n_rows: int, n_columns: int
) -> tuple[Tensor, Tensor]:
    """Return tables of one structure and one kind of outlier, and their outliers."""
    structure = source.choice(tuple(STRUCTURES.values()))
    kind = draw_kind(source)
    n_variables = round(HIDDEN_VARIABLES * n_columns)
    variables = structure(source, n_tables, round(SPARE_ROWS * n_rows), n_variables)
    shape, share = (n_rows, n_columns), draw_share(source, n_tables)
    columns, is_outlier = kind(source, variables, shape, share)
    return write_columns(source, columns), is_outlier
