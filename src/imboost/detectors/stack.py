"""Stack: experts on unsupervised views and on the answers, heard by what they got right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.decomposition import PCA

from imboost.data.scaling import StandardScaling
from imboost.detectors.classic import ClassicDetector, Floats
from imboost.detectors.experts import ForestExpert, ResidualProcess, ViewExpert, pool_weights
from imboost.detectors.views import RankScale, Surroundings, has_both_classes
from imboost.labels import UNLABELLED, Labels
from imboost.validation import check_number

START = np.array([1.0, 1.0, 2.0])
"""Answers' worth of trust in the two forests and in the process before any answer."""


@dataclass(frozen=True)
class _Aspects:
    """What the experts look at, row by row."""

    scores: NDArray[np.float64]
    """Scores of the unsupervised views."""
    views: NDArray[np.float64]
    """Their ranks, on the scale of a standard normal variable."""
    columns: NDArray[np.float64]
    """The columns, from 0 to 1."""
    places: NDArray[np.float64]
    """The columns, in standard deviations."""
    rotated: NDArray[np.float64]
    """The first principal components of the places."""

    @property
    def plain(self) -> NDArray[np.float64]:
        return np.hstack([self.columns, self.scores])

    @property
    def wide(self) -> NDArray[np.float64]:
        return np.hstack([self.columns, self.scores, self.rotated])

    def __getitem__(self, rows: NDArray[np.bool_]) -> _Aspects:
        return _Aspects(
            self.scores[rows],
            self.views[rows],
            self.columns[rows],
            self.places[rows],
            self.rotated[rows],
        )


class Stack(ClassicDetector):
    """Our own detector: as good as its views without answers, and led by the answers later.

    Without labels, a row is judged by three views of it: an isolation forest and its mean
    distances to its nearest 10 and 80 rows. Labels first change how much each view is trusted.
    Once both kinds are known, three experts learn from them: trees on the columns and views,
    trees that see principal components too, and a Gaussian process that corrects the views
    near labelled rows. Each is heard as much as its opinions about labelled rows deserve that
    it was not told the label of.

    Parameters
    ----------
    n_trees : int
        Trees of each forest that learns from labels.
    n_isolation_trees : int
        Trees of the isolation forest.
    n_neighbors : tuple of int
        The neighbours over which distances are averaged, counted from the nearest.
    n_components : int
        Principal components that the second forest sees.
    max_reference_rows : int
        Neighbours are looked for among so many rows at most, drawn at random.
    contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    weights_ : array of shape (3,)
        How much each expert is heard; empty until both kinds are known.
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import Stack
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(Stack(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    default_query = "spread"

    def __init__(
        self,
        *,
        n_trees: int = 150,
        n_isolation_trees: int = 200,
        n_neighbors: tuple[int, ...] = (10, 80),
        n_components: int = 10,
        max_reference_rows: int = 20_000,
        contamination: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        device: str = "auto",
        verbose: bool = False,
    ) -> None:
        super().__init__(
            contamination=contamination,
            random_state=random_state,
            device=device,
            verbose=verbose,
        )
        self.n_trees = n_trees
        self.n_isolation_trees = n_isolation_trees
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.max_reference_rows = max_reference_rows

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("n_trees", self.n_trees, minimum=1, whole=True)
        check_number("n_isolation_trees", self.n_isolation_trees, minimum=1, whole=True)
        check_number("n_components", self.n_components, minimum=1, whole=True)
        check_number("max_reference_rows", self.max_reference_rows, minimum=2, whole=True)
        for number in self.n_neighbors:
            check_number("n_neighbors", number, minimum=1, whole=True)

    def _build(self, table: Floats) -> None:
        self._surroundings = Surroundings(
            table,
            self.n_isolation_trees,
            max(self.n_neighbors),
            self.max_reference_rows,
            self._seed,
        )
        scores = self._scores(table)
        self._ranks = RankScale(scores)
        self._standard = StandardScaling.fit(table)
        places = self._standard.apply(table)
        n_components = min(self.n_components, *table.shape)
        with np.errstate(invalid="ignore"):  # shares of the variance, where there is none
            rotation = PCA(n_components, random_state=self._seed).fit(places)
        self._axes, self._middle = rotation.components_, rotation.mean_
        self._training = self._aspects(table, scores)

    def _scores(self, table: Floats) -> NDArray[np.float64]:
        """Return what the unsupervised views say: (rows, views)."""
        distances = self._surroundings.distances(table)
        means = [distances[:, :number].mean(axis=1) for number in self.n_neighbors]
        return np.column_stack([self._surroundings.isolation(table), *means])

    def _aspects(self, table: Floats, scores: NDArray[np.float64]) -> _Aspects:
        least = 0.5 / self._n_rows
        ranks = np.clip(self._ranks.ranks(scores), least, 1 - least)
        places = self._standard.apply(table)
        # No matrix product: its last digits depend on how rows are batched.
        rotated = np.einsum("ij,kj->ik", places - self._middle, self._axes)
        return _Aspects(scores, ndtri(ranks), table, places, rotated)

    def _learn(self, table: Floats, labels: Labels) -> None:
        known = labels != UNLABELLED
        seen, answers = self._training[known], labels[known]
        self._viewer = ViewExpert(seen.views, answers)
        self.weights_ = np.zeros(0)
        if not has_both_classes(labels):
            return
        first_opinion = self._viewer.judge(seen.views)
        self._plain = ForestExpert(seen.plain, answers, self.n_trees, self._seed)
        self._wide = ForestExpert(seen.wide, answers, self.n_trees, self._seed + 1)
        rng = np.random.default_rng(self._seed)
        self._process = ResidualProcess(seen.places, answers, first_opinion, rng)
        experts = (self._plain, self._wide, self._process)
        held_out = np.column_stack([expert.held_out for expert in experts])
        self.weights_ = pool_weights(held_out, answers, START)

    def _judge(self, table: Floats) -> NDArray[np.float64]:
        return self._opinion(self._aspects(table, self._scores(table)))

    def _score_training(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._opinion(self._training)

    def _opinion(self, rows: _Aspects) -> NDArray[np.float64]:
        first_opinion = self._viewer.judge(rows.views)
        if len(self.weights_) == 0:
            return first_opinion
        opinions = [
            self._plain.judge(rows.plain),
            self._wide.judge(rows.wide),
            self._process.judge(rows.places, first_opinion),
        ]
        weighted = zip(self.weights_, opinions, strict=True)
        return np.asarray(sum(weight * opinion for weight, opinion in weighted))
