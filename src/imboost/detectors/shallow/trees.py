"""Trees: ExtraTrees on the columns, isolation-forest scores and neighbour distances."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from imboost.arrays import Floats
from imboost.detectors.base import COUNT, TWO_OR_MORE
from imboost.detectors.shallow.base import ScoreFeatureClassifier
from imboost.detectors.shallow.neighbor_distances import NeighborDistances
from imboost.detectors.stack.forests import Forest
from imboost.detectors.stack.isolation import IsolationScores
from imboost.labels import Labels
from imboost.stats.sampling import sample_rows


@dataclass(kw_only=True, eq=False, repr=False)
class Trees(ScoreFeatureClassifier):
    """A strong, simple baseline: extremely randomised trees on columns and unsupervised scores.

    The features of a row are its columns, its isolation-forest score and its distances to nearest
    neighbours. The score is the fraction of trees that predict an outlier; ties are broken by the
    mean rank of the unsupervised scores. Until labels of both classes are known, the score is
    that rank.

    Parameters
    ----------
    n_trees : int
        Trees of the classifier.
    n_isolation_trees : int
        Trees of the isolation forest.
    n_neighbors : tuple of int
        Ranks k of the neighbours whose distances are features.
    max_reference_rows : int
        Maximum number of rows, drawn at random, among which neighbours are searched.
    contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    References
    ----------
    Geurts et al., "Extremely randomized trees", Machine Learning 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import Trees
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(Trees(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    default_query = "mix"

    n_trees: int = field(default=300, metadata=COUNT)
    n_isolation_trees: int = field(default=100, metadata=COUNT)
    n_neighbors: tuple[int, ...] = field(default=(5, 20), metadata=COUNT)
    max_reference_rows: int = field(default=20_000, metadata=TWO_OR_MORE)

    def _fit_scores(self, table: Floats) -> None:
        self._isolation = IsolationScores.fit(table, self.n_isolation_trees, self._seed)
        reference = table[sample_rows(len(table), self.max_reference_rows, self._seed)]
        self._distances = NeighborDistances(reference, max(self.n_neighbors))

    def _fit_classifier(self, features: Floats, labels: Labels) -> Forest:
        forest = ExtraTreesClassifier(self.n_trees, random_state=self._seed)
        return Forest.from_trees(forest.fit(features, labels).estimators_)

    def _classify(self, features: Floats) -> Floats:
        return np.asarray(self._classifier.predict(features))

    def _combine(self, probability: Floats, mean_rank: Floats) -> Floats:
        # The rank only breaks ties: the vote of one tree weighs more.
        return np.asarray(probability + mean_rank / self.n_trees)

    def _unsupervised_scores(self, table: Floats) -> Floats:
        """Return isolation-forest score and neighbour distances: (rows, 1 + distances)."""
        distances = self._distances(table)
        wanted = np.minimum(self.n_neighbors, distances.shape[1]) - 1
        return np.column_stack([self._isolation(table), distances[:, wanted]])
