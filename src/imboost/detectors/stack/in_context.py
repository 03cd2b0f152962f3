"""The pretrained network as a base learner: it predicts in context, without training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

from imboost.arrays import Floats, Indices
from imboost.detectors.stack.base_learners import clip_probability
from imboost.labels import OUTLIER, UNLABELLED, Labels
from imboost.models.in_context import SCORES, Context
from imboost.models.pretrained import load_pretrained
from imboost.parallel import map_in_threads
from imboost.stats.row_products import Singles
from imboost.training.loop import one_thread

CONTEXT_ROWS = 256  # the time to predict a row grows with them; 384 are hardly better
MAX_LABELLED = 192  # context rows with a label; the others show the distribution
N_FOLDS = 2  # encoding the context of one costs as much as predicting 300 rows
BLOCK_ROWS = 64  # rows predicted at a time: the last digits depend on their number


@dataclass(eq=False)
class InContextLearner:
    """The pretrained network, with labelled and unlabelled rows as its context.

    Parameters
    ----------
    X : array of shape (n_context, n_columns + n_scores)
        The features of the context rows.
    labels : array of shape (n_context,)
        0, 1 or -1.
    out_of_fold : array of shape (n_labelled,)
        Predictions of labelled rows by contexts that do not have their labels; the fraction of
        outliers if a class has a single row; nan for labelled rows outside the context, whose
        labels `predict` does not use either.
    """

    X: Singles
    labels: Labels
    out_of_fold: Floats

    @classmethod
    def fit(
        cls, X: Singles, labels: Labels, unlabelled: Singles, seed: int, n_jobs: int = -1
    ) -> InContextLearner:
        """Use labelled rows, and as many unlabelled rows as fit, as the context.

        Parameters
        ----------
        X : array of shape (n_labelled, n_features)
            Columns, then the unsupervised scores in the order of `SCORES`.
        labels : array of shape (n_labelled,)
            0 and 1, both of which occur.
        unlabelled : array of shape (n_unlabelled, n_features)
            Rows without a label, in random order.
        seed : int
            Of the folds, and of the labelled rows that are used if they are many.
        n_jobs : int
            Number of threads.
        """
        chosen = _choose_labelled(labels, seed)
        n_folds = min(N_FOLDS, *np.bincount(labels[chosen], minlength=2).tolist())
        splits = [(chosen, chosen[:0])]  # the final context: nothing is held out
        if n_folds > 1:
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
            parts = folds.split(chosen, labels[chosen])
            splits += [(chosen[used], chosen[held_out]) for used, held_out in parts]

        def predict_fold(split: tuple[Indices, Indices]) -> tuple[InContextLearner, Floats]:
            used, held_out = split
            learner = cls._from_rows(X[used], labels[used], unlabelled)
            return learner, learner.predict(X[held_out])

        fitted = map_in_threads(predict_fold, splits, n_jobs)
        out_of_fold = np.full(len(labels), np.nan)
        out_of_fold[chosen] = labels.mean()
        for (_, held_out), (_, proba) in zip(splits, fitted, strict=True):
            out_of_fold[held_out] = proba
        learner = fitted[0][0]
        learner.out_of_fold = clip_probability(out_of_fold)
        return learner

    @classmethod
    def _from_rows(cls, X: Singles, labels: Labels, unlabelled: Singles) -> InContextLearner:
        n_free = min(CONTEXT_ROWS - len(labels), len(unlabelled))
        context = np.concatenate([X, unlabelled[:n_free]])
        known = np.concatenate([labels, np.full(n_free, UNLABELLED, dtype=labels.dtype)])
        return cls(context, known, np.zeros(0))

    @cached_property
    def context(self) -> Context:
        """The context rows as the network has encoded them."""
        labels = torch.from_numpy(self.labels.astype(np.int64))[None]
        with torch.inference_mode(), one_thread():
            return load_pretrained().encode_context(*_inputs(self.X), labels)

    def predict(self, X: NDArray[Any]) -> Floats:
        """Return each row's probability of being an outlier."""
        return np.asarray(expit(self.log_odds(X)))

    def log_odds(self, X: NDArray[Any]) -> Floats:
        """Return each row's log-odds of being an outlier."""
        context, network = self.context, load_pretrained()
        found = np.empty(len(X))
        block = np.zeros((BLOCK_ROWS, X.shape[1]), dtype=np.float32)
        with torch.inference_mode(), one_thread():
            for start in range(0, len(X), BLOCK_ROWS):
                rows = X[start : start + BLOCK_ROWS]
                block[: len(rows)] = rows
                log_odds = network.predict(context, *_inputs(block))[0, : len(rows)]
                found[start : start + len(rows)] = log_odds.numpy()
        return found


def _choose_labelled(labels: Labels, seed: int) -> Indices:
    """Return the labelled rows of the context: all, or a class-balanced sample."""
    if len(labels) <= MAX_LABELLED:
        return np.arange(len(labels))
    order = np.random.default_rng(seed).permutation(len(labels))
    outliers, inliers = order[labels[order] == OUTLIER], order[labels[order] != OUTLIER]
    n_outliers = max(MAX_LABELLED // 2, MAX_LABELLED - len(inliers))
    outliers = outliers[:n_outliers]
    return np.sort(np.concatenate([outliers, inliers[: MAX_LABELLED - len(outliers)]]))


def _inputs(X: Singles) -> tuple[torch.Tensor, torch.Tensor]:
    """Return values and scores of one table, as the network takes them."""
    table = torch.from_numpy(np.ascontiguousarray(X, dtype=np.float32))[None]
    return table[..., : -len(SCORES)], table[..., -len(SCORES) :]
