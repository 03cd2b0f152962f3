"""Experts that say how likely a row is an outlier, and how much each of them is heard.

An expert learns from the answered rows and also says what it would have thought of each of
them had it not been told its answer. By these held-out opinions `pool_weights` decides how
much each expert is heard.
"""

from __future__ import annotations

import warnings
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from imboost.detectors.shallow.base import Floats
from imboost.detectors.stack.forest import mean_of_trees
from imboost.state import Stateful
from imboost.stats.logistic import fit_map_logistic

Answers = NDArray[np.int8]

START_ODDS, START_WEIGHT = -2.0, 1.5
"""What is assumed of views before any answer: log-odds of a usual row, and how they grow with
the views' mean."""

ODDS_DEVIATION = 1.0
"""How far answers may be expected to move the log-odds."""

LEAST_FREEDOM = 1e-6
"""Stands for none at all."""

STEPS = 50
"""Steps of expectation maximisation, at most."""

SURE = 0.02
"""No expert is heard as surer than this."""

INVERSE_PENALTY = 0.5
"""Of the linear expert: the smaller, the nearer its coefficients stay to 0."""

N_FOLDS = 5
MOST_STEPS = 300

SEARCHED_SHARE, FEWEST_IN_LEAF = 0.5, 2
"""Of a searching tree: the features it looks at for a split, and rows that a leaf holds."""

LENGTH_SCALES = (0.5, 1.0, 2.0, 4.0)
"""Of the process, in median distances between answered rows; the best is chosen."""

NOISES = (0.3, 1.0, 3.0)
"""Of the process, in units of its own variance; the best is chosen."""

MAX_PROCESS_ROWS = 1000
CHUNK_ROWS = 4096


class Expert(Protocol):
    """What has learned from answers and judges rows."""

    held_out: NDArray[np.float64]
    """Its opinion of each answered row, had it not been told that row's answer."""

    def judge(self, features: Floats, first_opinion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of being an outlier for every row, given a first opinion."""
        ...


class ViewExpert(Stateful):
    """Logistic regression on unsupervised views, drawn to a mean of them.

    Answers change the trust in each view. The coefficients are those of the largest posterior,
    under Gaussian priors.

    Parameters
    ----------
    views : array of shape (n_answers, n_views)
        Views of the answered rows, on the scale of a standard normal variable.
    answers : array of shape (n_answers,)
        0 or 1 for each of them; there may be none.
    trust : array of shape (n_views,)
        How much each view counts without answers, as shares of 1.
    freedom : float
        How far answers may be expected to move the trust in a view.

    Attributes
    ----------
    held_out : array of shape (n_answers,)
        The probability of each of them, had it not been told the answer.
    """

    def __init__(self, views: Floats, answers: Answers, trust: Floats, freedom: float) -> None:
        mean = np.array([START_ODDS, *(START_WEIGHT * trust)])
        spread = np.array([ODDS_DEVIATION] + [max(freedom, LEAST_FREEDOM)] * len(trust))
        inputs = _with_intercept(views)
        self._coefficients, bend = fit_map_logistic(inputs, answers, mean, spread)
        share = _probability(inputs, self._coefficients)
        # One of Newton's steps from all answers to all but the row's own.
        reach = np.einsum("ij,ji->i", inputs, np.linalg.solve(bend, inputs.T))
        shift = reach * (share - answers) / (1 - reach * share * (1 - share))
        odds = np.einsum("ij,j->i", inputs, self._coefficients)
        self.held_out = np.asarray(expit(odds + shift))

    def judge(self, views: Floats) -> NDArray[np.float64]:
        """Return the probability of being an outlier for every row."""
        return _probability(_with_intercept(views), self._coefficients)


class ViewOpinion(Stateful):
    """What the views say, as one expert among others.

    Parameters
    ----------
    viewer : ViewExpert
        What makes the first opinion.
    """

    def __init__(self, viewer: ViewExpert) -> None:
        self.held_out = np.clip(viewer.held_out, SURE, 1 - SURE)

    def judge(self, features: Floats, first_opinion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the first opinion."""
        return first_opinion


class ForestExpert(Stateful):
    """A forest; a row is judged, held out, by the trees that never saw it.

    Parameters
    ----------
    features : array of shape (n_answers, n_features)
        What is known of the answered rows.
    answers : array of shape (n_answers,)
        0 or 1 for each of them, of both kinds.
    n_trees : int
    seed : int
    searching : bool
        Whether trees search for the best split among half of the features; otherwise they are
        extremely randomised.
    """

    def __init__(
        self,
        features: Floats,
        answers: Answers,
        n_trees: int,
        seed: int,
        searching: bool = False,
    ) -> None:
        settings = {"bootstrap": True, "oob_score": True, "random_state": seed}
        if searching:
            self._forest = RandomForestClassifier(
                n_trees, max_features=SEARCHED_SHARE, min_samples_leaf=FEWEST_IN_LEAF, **settings
            )
        else:
            self._forest = ExtraTreesClassifier(n_trees, **settings)
        with warnings.catch_warnings():  # of rows that every tree saw, dealt with below
            warnings.simplefilter("ignore")
            self._forest.fit(features, answers)
        votes = self._forest.oob_decision_function_
        unseen = np.nan_to_num(votes).sum(axis=1) > 0  # by at least one tree
        held_out = np.where(unseen, votes[:, 1], answers.mean())
        self.held_out = np.asarray(np.clip(held_out, SURE, 1 - SURE))

    def judge(self, features: Floats, first_opinion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of being an outlier for every row."""
        return mean_of_trees(self._forest, features)[:, 1]


class LinearExpert(Stateful):
    """Logistic regression; a row is judged, held out, by a fit without its fold.

    Parameters
    ----------
    features : array of shape (n_answers, n_features)
        What is known of the answered rows, about as large in every column.
    answers : array of shape (n_answers,)
        0 or 1 for each of them, of both kinds.
    seed : int
        Of the folds.
    """

    def __init__(self, features: Floats, answers: Answers, seed: int) -> None:
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=MOST_STEPS)
        n_folds = min(N_FOLDS, int(answers.sum()), int((1 - answers).sum()))
        if n_folds < 2:  # one row of its kind
            held_out = np.full(len(answers), answers.mean())
        else:
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
            judged = cross_val_predict(model, features, answers, cv=folds, method="predict_proba")
            held_out = judged[:, 1]
        self.held_out = np.asarray(np.clip(held_out, SURE, 1 - SURE))
        model.fit(features, answers)
        self._coefficients = np.concatenate([model.intercept_, model.coef_[0]])

    def judge(self, features: Floats, first_opinion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of being an outlier for every row."""
        return _probability(_with_intercept(features), self._coefficients)


class ResidualProcess(Stateful):
    """A Gaussian process on what a first opinion got wrong.

    Near answered rows it corrects the first opinion; far from all of them it leaves it as it
    is. Length scale and noise are those with the smallest leave-one-out error, which the
    eigenvectors of the kernel give at once.

    Parameters
    ----------
    places : array of shape (n_answers, n_features)
        Where the answered rows lie.
    answers : array of shape (n_answers,)
        0 or 1 for each of them.
    first_opinion : array of shape (n_answers,)
        Their probability by the first opinion.
    first_held_out : array of shape (n_answers,)
        The same, had the first opinion not been told the row's answer.
    seed : int
        Of the choice of rows to learn from, where there are too many.
    """

    def __init__(
        self,
        places: Floats,
        answers: Answers,
        first_opinion: NDArray[np.float64],
        first_held_out: NDArray[np.float64],
        seed: int,
    ) -> None:
        rng = np.random.default_rng(seed)
        n_used = min(len(places), MAX_PROCESS_ROWS)
        used = np.sort(rng.choice(len(places), n_used, replace=False))
        self._places = places[used]
        errors = (answers - first_opinion)[used]
        distances = cdist(self._places, self._places, "sqeuclidean")
        between = distances[np.triu_indices(n_used, 1)]
        usual = float(np.median(between)) or 1.0
        smallest = np.inf
        for scale in LENGTH_SCALES:
            precision = 1 / (2 * usual * scale**2)
            with threadpool_limits(limits=1):  # threads that fight for cores cost far more
                values, vectors = np.linalg.eigh(np.exp(-precision * distances))
            turned, squares = vectors.T @ errors, np.square(vectors)
            for noise in NOISES:
                weights = vectors @ (turned / (values + noise))
                inverse_diagonal = squares @ (1 / (values + noise))
                misses = weights / inverse_diagonal  # of each row, had it been left out
                if (miss := float(np.square(misses).mean())) < smallest:
                    smallest, best_misses = miss, misses
                    self._precision, self._weights = precision, weights
        correction = self._correction(places)
        correction[used] = errors - best_misses
        self.held_out = np.clip(first_held_out + correction, SURE, 1 - SURE)

    def judge(self, features: Floats, first_opinion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of being an outlier for every row."""
        return np.clip(first_opinion + self._correction(features), 0.0, 1.0)

    def _correction(self, places: Floats) -> NDArray[np.float64]:
        parts = []
        for start in range(0, len(places), CHUNK_ROWS):
            distances = cdist(places[start : start + CHUNK_ROWS], self._places, "sqeuclidean")
            kernel = np.exp(-self._precision * distances)
            parts.append(np.einsum("ij,j->i", kernel, self._weights))
        return np.concatenate(parts)


def pool_weights(
    opinions: NDArray[np.float64], answers: Answers, start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how much each expert is heard in the mean of their opinions; the sum is 1.

    The weights make the answers likeliest, under a Dirichlet prior that counts as many answers
    for each expert as `start` says: a few steps of expectation maximisation, after which
    they hardly change, and no more, since experts that are about as good should all be heard.

    >>> held_out = np.array([[0.9, 0.4], [0.1, 0.6], [0.2, 0.5]])
    >>> pool_weights(held_out, np.array([1, 0, 0]), np.array([1.0, 1.0])).round(1).tolist()
    [0.7, 0.3]
    """
    likelihood = np.where(answers[:, None] == 1, opinions, 1 - opinions)
    weights = start / start.sum()
    for _ in range(STEPS):
        share = weights * likelihood
        share /= share.sum(axis=1, keepdims=True)
        counts = share.sum(axis=0) + start
        weights = counts / counts.sum()
    return np.asarray(weights)


def _with_intercept(views: Floats) -> Floats:
    return np.column_stack([np.ones(len(views)), views])


def _probability(inputs: Floats, coefficients: Floats) -> NDArray[np.float64]:
    return np.asarray(expit(np.einsum("ij,j->i", inputs, coefficients)))
