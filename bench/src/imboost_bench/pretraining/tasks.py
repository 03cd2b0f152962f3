"""One batch of synthetic tables with answers: what the network learns to predict."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from imboost.labels import UNLABELLED
from imboost.models.in_context import SCORES, CellScaling
from imboost_bench.pretraining.outliers import SPARE_ROWS, draw_kind, draw_share
from imboost_bench.pretraining.random_source import RandomSource
from imboost_bench.pretraining.settings import (
    MAX_CONTEXT,
    MIN_COLUMNS,
    MIN_CONTEXT,
    PretrainingSettings,
)
from imboost_bench.pretraining.structures import STRUCTURES, write_columns
from imboost_bench.pretraining.unsupervised_scores import score_tables

N_STRUCTURES = 8  # different structures and kinds of outliers in a batch
UPDATES_PER_DRAW = 4
CONTEXT_SIZES = (MIN_CONTEXT, 64, 128, 256, 384, 512, 640, 768, 1024, 1536, MAX_CONTEXT)
CONTEXT_RANGE = 5  # largest number of context rows by the smallest
HIDDEN_VARIABLES = 2.0  # variables of a table by its columns; the others are not shown

MIN_ANSWERS, MAX_SHARE = 4, 0.9  # answered rows: at least, and of the context rows
MANY_ANSWERS, MANY_SHARE = 0.5, 0.1  # tables with many answers, and their smallest share
NOISY_TABLES, MAX_NOISE = 0.2, 0.1  # tables with wrong answers, and their largest share


class Task(NamedTuple):
    """A batch of tables, whose context rows come first."""

    values: Tensor  # (tables, rows, columns), nan where missing
    scores: Tensor  # (tables, rows, scores), in the order of `SCORES`
    labels: Tensor  # (tables, context rows): 0, 1 or -1
    is_outlier: Tensor  # (tables, rows), boolean

    @property
    def n_context(self) -> int:
        """Number of context rows."""
        return self.labels.shape[1]

    @property
    def is_target(self) -> Tensor:
        """Which rows (tables, rows) have no answer, and so are to be predicted."""
        n_query = self.is_outlier.shape[1] - self.n_context
        return torch.nn.functional.pad(self.labels == UNLABELLED, (0, n_query), value=True)


def draw_tasks(settings: PretrainingSettings, source: RandomSource) -> list[Task]:
    """Draw the tables of `UPDATES_PER_DRAW` updates, all of one shape.

    They are drawn together, since small tensors take a GPU as long as larger ones.
    """
    smallest = max(MIN_CONTEXT, settings.max_context // CONTEXT_RANGE)
    sizes = [n for n in CONTEXT_SIZES if smallest <= n <= settings.max_context]
    n_context = source.choice(sizes)
    n_columns = source.number(MIN_COLUMNS, settings.max_columns)
    n_rows = n_context + settings.n_query
    n_summaries = settings.row_width // settings.width
    tokens = n_rows * (n_columns + len(SCORES) + n_summaries)
    n_tables = max(1, round(settings.n_tokens / tokens / N_STRUCTURES)) * UPDATES_PER_DRAW
    parts = [_draw_tables(source, n_tables, n_rows, n_columns) for _ in range(N_STRUCTURES)]
    values, is_outlier = (torch.cat(part) for part in zip(*parts, strict=True))
    scaled = CellScaling.fit(values[:, :n_context]).transform(values)[..., 0]
    scores = score_tables(source, scaled, n_context)
    labels = draw_answers(source, is_outlier[:, :n_context], scores[:, :n_context])
    return [
        Task(*(part[first::UPDATES_PER_DRAW] for part in (values, scores, labels, is_outlier)))
        for first in range(UPDATES_PER_DRAW)
    ]


def _draw_tables(
    source: RandomSource, n_tables: int, n_rows: int, n_columns: int
) -> tuple[Tensor, Tensor]:
    """Return tables of one structure and one kind of outlier, and their outliers."""
    structure = source.choice(tuple(STRUCTURES.values()))
    kind = draw_kind(source)
    n_variables = round(HIDDEN_VARIABLES * n_columns)
    variables = structure(source, n_tables, round(SPARE_ROWS * n_rows), n_variables)
    shape, share = (n_rows, n_columns), draw_share(source, n_tables)
    columns, is_outlier = kind.draw(source, variables, shape, share)
    return write_columns(source, columns), is_outlier


def draw_answers(source: RandomSource, is_outlier: Tensor, scores: Tensor) -> Tensor:
    """Return the labels (tables, context rows): -1, or an answer that may be wrong.

    Rows are selected at random, by a high score, or by uncertainty: near the quantile of the score
    that separates as many rows as there are outliers. Most tables mix these.
    """
    n_tables, n_rows = is_outlier.shape
    weights = torch.softmax(2 * source.normal(n_tables, 1, scores.shape[-1]), -1)
    deviation = scores.std(1, keepdim=True).clamp_min(1e-6)
    score = ((scores - scores.mean(1, keepdim=True)) / deviation * weights).sum(-1)
    share = is_outlier.float().mean(1, keepdim=True)
    place = score.argsort(1).argsort(1) / n_rows
    uncertainty = -(place - (1 - share)).abs() * 10
    kind = source.uniform(n_tables, 1)
    strength = source.between(0.3, 3.0, n_tables, 1)
    preference = torch.where(kind < 0.35, torch.zeros_like(score), strength * score)
    preference = torch.where(kind > 0.75, strength * (uncertainty + 0.5 * score), preference)
    largest = max(MIN_ANSWERS + 1.0, MAX_SHARE * n_rows)
    fewest = torch.full((n_tables, 1), float(MIN_ANSWERS), device=score.device)
    many = max(MIN_ANSWERS, MANY_SHARE * n_rows)
    fewest = fewest.masked_fill(source.events(MANY_ANSWERS, n_tables, 1), many)
    n_answers = fewest * (largest / fewest) ** source.uniform(n_tables, 1)
    order = (preference + source.gumbel(n_tables, n_rows)).argsort(1, descending=True).argsort(1)
    noise = source.between(0.0, MAX_NOISE, n_tables, 1) * source.events(NOISY_TABLES, n_tables, 1)
    answers = is_outlier ^ (source.uniform(n_tables, n_rows) < noise)
    return torch.where(order < n_answers, answers.long(), UNLABELLED)
