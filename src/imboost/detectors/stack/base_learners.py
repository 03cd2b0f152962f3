"""Base learners: each predicts the probability of being an outlier, also out of fold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from imboost.arrays import Floats, Mask
from imboost.decide.threshold import base_rate_shift
from imboost.detectors.stack.forests import Forest
from imboost.labels import Labels
from imboost.parallel import limit_library_threads
from imboost.stats.logistic import fit_map_logistic
from imboost.stats.row_products import Singles, squared_distances

PRIOR_INTERCEPT = -2.0  # log-odds of a row with average scores, in tables without a cell model
PRIOR_INTERCEPT_STD = 1.0
PRIOR_SLOPE = 1.5  # increase of the log-odds per standard deviation of the weighted mean score
MIN_STD = 1e-6  # replaces a standard deviation of 0
CLIP = 0.02  # out-of-fold probabilities are clipped to [0.02, 0.98]: no learner is certain
N_FOLDS = 5
LINEAR_C = 0.5  # inverse regularisation strength of the linear model
LENGTH_SCALES = (0.5, 1.0, 2.0, 4.0)  # in units of the median distance between labelled rows
NOISE_VARIANCES = (0.3, 1.0, 3.0)  # in units of the variance of the process
MAX_PROCESS_ROWS = 1000  # the time to fit a Gaussian process is cubic in the rows
CHUNK_ROWS = 1024  # rows compared with the labelled rows at a time


class BaseLearner(Protocol):
    """A learner fitted to the labelled rows."""

    @property
    def out_of_fold(self) -> Floats:
        """Predictions for the labelled rows by models that were not fitted to their labels."""
        ...

    def predict(self, X: NDArray[Any], score_proba: Floats) -> Floats:
        """Return each row's probability of being an outlier.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            The features that the learner was fitted to.
        score_proba : array of shape (n_rows,)
            The prediction of the `ScoreModel`.
        """
        ...


@dataclass(frozen=True, eq=False)
class ScoreModel:
    """Logistic regression on the unsupervised scores, with informative priors.

    Each coefficient is the prior weight of its score times a multiplier. The multipliers have a
    Gaussian prior around 1 and are not negative, since a high score is never evidence of an
    inlier. Without labels, all of them are 1.
    """

    intercept: float
    coefficients: Floats
    out_of_fold: Floats

    @classmethod
    def fit(
        cls,
        scores: Floats,
        labels: Labels,
        prior_weights: Floats,
        weight_std: float,
        intercept: float = PRIOR_INTERCEPT,
    ) -> ScoreModel:
        """Fit to the labelled rows, of which there may be none.

        Parameters
        ----------
        scores : array of shape (n_labelled, n_scores)
            Standardised unsupervised scores.
        labels : array of shape (n_labelled,)
        prior_weights : array of shape (n_scores,)
            Their sum is 1.
        weight_std : float
            Standard deviation of the multipliers' prior.
        intercept : float
            Prior mean of the intercept.
        """
        prior_slopes = PRIOR_SLOPE * prior_weights
        inputs = np.column_stack([np.ones(len(scores)), scores * prior_slopes])
        mean = np.array([intercept, *np.ones(len(prior_slopes))])
        std = np.full(len(mean), max(weight_std, MIN_STD))
        std[0] = PRIOR_INTERCEPT_STD
        lower = np.array([-np.inf, *np.zeros(len(prior_slopes))])
        found, hessian = fit_map_logistic(inputs, labels, mean, std, lower)
        free = found > lower
        out_of_fold = _leave_one_out(inputs, labels, found, free, hessian)
        return cls(float(found[0]), found[1:] * prior_slopes, out_of_fold)

    def predict(self, scores: Floats) -> Floats:
        """Return each row's probability of being an outlier."""
        return _logistic(scores, self.coefficients, self.intercept)


def prior_intercept(scores: Floats, prior_weights: Floats) -> float:
    """Return the intercept for tables with a cell model, which rests on the base rate.

    Parameters
    ----------
    scores : array of shape (n_rows, n_scores)
        Standardised unsupervised scores of the training rows.
    prior_weights : array of shape (n_scores,)
    """
    log_odds = PRIOR_SLOPE * np.einsum("ij,j->i", scores, prior_weights)
    return base_rate_shift(log_odds)


def _leave_one_out(
    inputs: Floats, labels: Labels, found: Floats, free: Mask, hessian: Floats
) -> Floats:
    """Return each row's probability after one Newton step without its label.

    Coefficients that are not `free` stay at their limit.
    """
    log_odds = np.einsum("ij,j->i", inputs, found)
    probability = expit(log_odds)
    inverse = np.linalg.inv(hessian[np.ix_(free, free)])
    leverage = np.einsum("ij,jk,ik->i", inputs[:, free], inverse, inputs[:, free])
    residual = probability - labels
    shift = leverage * residual / (1 - leverage * probability * (1 - probability))
    return np.asarray(expit(log_odds + shift))


@dataclass(frozen=True, eq=False)
class ScoreLearner:
    """The predictions of the `ScoreModel` as one base learner among others."""

    out_of_fold: Floats

    @classmethod
    def fit(cls, out_of_fold: Floats) -> ScoreLearner:
        """Clip the out-of-fold predictions of the model."""
        return cls(clip_probability(out_of_fold))

    def predict(self, X: NDArray[Any], score_proba: Floats) -> Floats:
        """Return the model's probabilities."""
        return score_proba


@dataclass(frozen=True, eq=False)
class ForestLearner:
    """A bootstrapped forest; the labelled rows are predicted out of bag."""

    forest: Forest
    out_of_fold: Floats

    @classmethod
    def fit(
        cls, forest: RandomForestClassifier | ExtraTreesClassifier, X: Floats, labels: Labels
    ) -> ForestLearner:
        """Fit a forest to the labelled rows, which are of both classes."""
        forest.set_params(bootstrap=True, oob_score=True)
        with warnings.catch_warnings():  # about rows that every tree saw
            warnings.simplefilter("ignore")
            forest.fit(X, labels)
        votes = np.nan_to_num(forest.oob_decision_function_)
        out_of_bag = np.where(votes.sum(axis=1) > 0, votes[:, 1], labels.mean())
        return cls(Forest.from_trees(forest.estimators_), clip_probability(out_of_bag))

    def predict(self, X: NDArray[Any], score_proba: Floats) -> Floats:
        """Return each row's probability of being an outlier."""
        return self.forest.predict(X)


@dataclass(frozen=True, eq=False)
class LinearLearner:
    """Regularised logistic regression; the labelled rows are predicted by cross-validation."""

    intercept: float
    coefficients: Floats
    out_of_fold: Floats

    @classmethod
    def fit(cls, X: Floats, labels: Labels, seed: int) -> LinearLearner:
        """Fit to the labelled rows, which are of both classes."""
        model = LogisticRegression(C=LINEAR_C, max_iter=300)
        n_folds = min(N_FOLDS, *np.bincount(labels, minlength=2).tolist())
        if n_folds < 2:  # a class with a single row
            out_of_fold = np.full(len(labels), labels.mean())
        else:
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
            out_of_fold = cross_val_predict(model, X, labels, cv=folds, method="predict_proba")[
                :, 1
            ]
        model.fit(X, labels)
        return cls(float(model.intercept_[0]), model.coef_[0], clip_probability(out_of_fold))

    def predict(self, X: NDArray[Any], score_proba: Floats) -> Floats:
        """Return each row's probability of being an outlier."""
        return _logistic(X, self.coefficients, self.intercept)


@dataclass(frozen=True, eq=False)
class GaussianProcessLearner:
    """A Gaussian process on the residuals of the `ScoreModel`.

    Near labelled rows it corrects the score model; far from them it equals the score model. The
    out-of-fold predictions are approximate: the residuals of the other rows come from a score
    model that was fitted to all labels.
    scikit-learn's GaussianProcessRegressor has no closed-form leave-one-out predictions. Here
    they choose the length scale and the noise, and are the out-of-fold predictions.
    """

    X: Singles
    weights: Floats
    precision: float
    out_of_fold: Floats

    @classmethod
    def fit(
        cls,
        X: NDArray[Any],
        labels: Labels,
        score_proba: Floats,
        score_out_of_fold: Floats,
        seed: int,
    ) -> GaussianProcessLearner:
        """Fit to the labelled rows, or to a sample of `MAX_PROCESS_ROWS` of them."""
        n_used = min(len(X), MAX_PROCESS_ROWS)
        used = np.sort(np.random.default_rng(seed).choice(len(X), n_used, replace=False))
        residuals = (labels - score_proba)[used]
        distances = cdist(X[used], X[used], "sqeuclidean")
        median = float(np.median(distances[np.triu_indices(n_used, 1)])) or 1.0
        smallest = np.inf
        for length_scale in LENGTH_SCALES:
            candidate = 1 / (2 * median * length_scale**2)
            with limit_library_threads():  # one thread is quicker for small matrices
                values, vectors = np.linalg.eigh(np.exp(-candidate * distances))
            for noise in NOISE_VARIANCES:
                inverse = 1 / (values + noise)
                solution = vectors @ (inverse * (vectors.T @ residuals))
                errors = solution / (np.square(vectors) @ inverse)  # leave-one-out
                if (loss := float(np.square(errors).mean())) < smallest:
                    smallest, left_out_errors = loss, errors
                    precision, weights = candidate, solution
        learner = cls(X[used], weights, precision, score_out_of_fold)
        correction = learner._correction(X)
        correction[used] = residuals - left_out_errors
        return replace(learner, out_of_fold=clip_probability(score_out_of_fold + correction))

    def predict(self, X: NDArray[Any], score_proba: Floats) -> Floats:
        """Return each row's probability of being an outlier."""
        return np.clip(score_proba + self._correction(X), 0.0, 1.0)

    def _correction(self, X: Singles) -> Floats:
        centre, weights = self.X.mean(axis=0), self.weights.astype(np.float32)
        known, precision = np.asfortranarray(self.X - centre), np.float32(self.precision)
        correction = np.empty(len(X))
        for start in range(0, len(X), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            kernel = np.exp(-precision * squared_distances(X[rows] - centre, known))
            correction[rows] = (kernel * weights).sum(axis=1)
        return correction


def fit_learner(
    name: str,
    X: NDArray[Any],
    labels: Labels,
    *,
    score_proba: Floats,
    score_out_of_fold: Floats,
    n_trees: int,
    seed: int,
) -> BaseLearner:
    """Fit the base learner of this name to the features of labelled rows of both classes.

    Parameters
    ----------
    name : str
    X : array of shape (n_labelled, n_features)
    labels : array of shape (n_labelled,)
    score_proba, score_out_of_fold : array of shape (n_labelled,)
        Predictions of the `ScoreModel`.
    n_trees : int
        Trees in each forest.
    seed : int
    """
    if name == "random_forest":
        forest = RandomForestClassifier(
            n_trees, max_features=0.5, min_samples_leaf=2, random_state=seed
        )
        return ForestLearner.fit(forest, X, labels)
    if name == "extra_trees":
        return ForestLearner.fit(ExtraTreesClassifier(n_trees, random_state=seed), X, labels)
    if name == "linear":
        return LinearLearner.fit(X, labels, seed)
    if name == "gaussian_process":
        return GaussianProcessLearner.fit(X, labels, score_proba, score_out_of_fold, seed)
    if name == "scores":
        return ScoreLearner.fit(score_out_of_fold)
    raise ValueError(f"There is no base learner {name!r}.")


def _logistic(X: Floats, coefficients: Floats, intercept: float) -> Floats:
    # A sum per row: the last digits of a matrix product depend on the number of rows.
    return np.asarray(expit(np.einsum("ij,j->i", X, coefficients) + intercept))


def clip_probability(probability: Floats) -> Floats:
    """Clip out-of-fold probabilities to [CLIP, 1 - CLIP]."""
    return np.clip(probability, CLIP, 1 - CLIP)
