"""Which context rows of a synthetic table are answered, and how."""

from __future__ import annotations

import torch
from torch import Tensor

from imboost.labels import UNLABELLED
from imboost_bench.pretraining.random_source import RandomSource

MIN_ANSWERS, MAX_SHARE = 4, 0.9  # answered rows: at least, and of the context rows
MANY_ANSWERS, MANY_SHARE = 0.5, 0.1  # tables with many answers, and their smallest share
NOISY_TABLES, MAX_NOISE = 0.2, 0.1  # tables with wrong answers, and their largest share


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
