"""Stack: experts on unsupervised views and on the answers, heard by what they got right."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from imboost.decide.threshold import AUTO
from imboost.detectors.base import impute
from imboost.detectors.shallow.base import Floats, ShallowDetector
from imboost.detectors.stack.base_learners import Expert, ViewExpert, pool_weights
from imboost.detectors.stack.cell_model import CellSurprise
from imboost.detectors.stack.learner_roles import EXPERTS, Lesson
from imboost.detectors.stack.pca import Rest, Rotation
from imboost.detectors.stack.priors import (
    VIEWS,
    crowding_of,
    join_views,
    one_column_each,
    view_trust,
)
from imboost.detectors.stack.unsupervised import N_COMPANY, Surroundings
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import Attributions, occlusion_attributions
from imboost.labels import UNLABELLED, Labels, has_both_classes
from imboost.stats.log_odds import logit
from imboost.stats.ranks import RankTransform
from imboost.stats.scaling import StandardScaling
from imboost.tables.layout import Kind, Layout
from imboost.validation import check_number, check_numbers

LOOKS = (*VIEWS, "loneliness")
"""What is seen of rows without answers; loneliness is a feature of the forests alone."""

N_SURPRISES = 2
"""The most surprising cells of a row, whose mean is the view "surprise"."""

SURPRISE_TREES, SURPRISE_ROWS = 30, 10_000
"""Of each forest that expects a column: its trees, and the rows it learns from at most."""

MOST_TRUST = 1e12
"""More trust at the start could not be told from this."""

FARTHEST_VIEW = 5.0
"""Views further out than so many standard deviations count as that far in linear terms."""


@dataclass(frozen=True)
class _Aspects:
    """What the experts look at, row by row."""

    views: NDArray[np.float64]
    """Scores of the unsupervised views, in standard deviations."""
    content: NDArray[np.float64]
    """The columns, from 0 to 1."""
    gaps: NDArray[np.float64]
    """Columns that say where cells are missing."""
    looks: NDArray[np.float64]
    """What unsupervised looks say."""
    components: NDArray[np.float64]
    """The first principal components, in standard deviations."""
    ranks: NDArray[np.float64]
    """The columns' ranks, on the scale of a standard normal variable."""

    @property
    def features(self) -> NDArray[np.float64]:
        return np.hstack([self.content, self.looks, self.gaps])

    @property
    def rotated_features(self) -> NDArray[np.float64]:
        # Trees that split at random cannot pass over gaps that say nothing.
        return np.hstack([self.content, self.looks, self.components])

    @property
    def coordinates(self) -> NDArray[np.float64]:
        return np.hstack([self.components, np.clip(self.views, -FARTHEST_VIEW, FARTHEST_VIEW)])

    def __getitem__(self, rows: NDArray[np.bool_]) -> _Aspects:
        return _Aspects(*(getattr(self, field.name)[rows] for field in fields(self)))


class Stack(ShallowDetector):
    """Our own detector: as good as its views without answers, and led by the answers later.

    Without labels, a row is judged by several views of it: an isolation forest, its mean
    distances to few and to many nearest rows, and how much of it the principal components
    leave unexplained. Labels first change how much each view is trusted. Once both kinds are
    known, more experts learn from them: two forests on columns and views, a linear model of
    principal components and views, and a Gaussian process that corrects the views near labelled
    rows. Each, and the views themselves, is heard as much as its opinions about labelled rows
    deserve that it was not told the label of.

    Parameters
    ----------
    n_trees : int
        Trees of each forest that learns from labels.
    n_isolation_trees : int
        Trees of the isolation forest.
    n_neighbors : tuple of int
        The neighbours over which distances are averaged, counted from the nearest.
    n_components : int
        Principal components that the last forest and the linear model see.
    max_reference_rows : int
        Neighbours are looked for among so many rows at most, drawn at random.
    looks : tuple of str
        What is seen of rows without labels: the views "isolation", "distances" and "rest" (what
        principal components leave unexplained), and for the forests also "loneliness" (distances
        to neighbours over those that the neighbours have). In tables with a layout there is also
        the view "surprise": how far cells are from what the row's other cells let expect.
    experts : tuple of str
        Those that are heard: a forest of trees that search for the best splits ("searching"), one
        of extremely randomised trees that see principal components too ("components"), the
        "linear" model, the "process" and the "views" as they are trusted by now.
    view_freedom : float
        How far labels are expected to move the trust in a view, as a standard deviation; 0 not
        at all.
    start_trust : float
        The larger, the longer experts are heard as at the start: the process and the views more
        the more cells tell a row from others, the rest less. With 1 that trust is worth two
        labels for each of the rest where a few cells do; half a label where very many do, with
        four for the process and eight for the views.
    contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    weights_ : dict of str to float
        How much each expert is heard; empty until both kinds are known.
    decision_scores_, query_scores_, labels_, threshold_, calibration_, training_labels_, \
    out_of_fold_proba_, n_features_in_, feature_names_in_
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
    has_out_of_fold_scores = True
    unsaved_attributes = ("_training",)

    def __init__(
        self,
        *,
        n_trees: int = 100,
        n_isolation_trees: int = 200,
        n_neighbors: tuple[int, ...] = (40, 80, 160),
        n_components: int = 10,
        max_reference_rows: int = 20_000,
        looks: tuple[str, ...] = LOOKS,
        experts: tuple[str, ...] = tuple(EXPERTS),
        view_freedom: float = 0.5,
        start_trust: float = 1.0,
        contamination: float | str = AUTO,
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
        self.looks = looks
        self.experts = experts
        self.view_freedom = view_freedom
        self.start_trust = start_trust

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("n_trees", self.n_trees, minimum=1, whole=True)
        check_number("n_isolation_trees", self.n_isolation_trees, minimum=1, whole=True)
        check_number("n_components", self.n_components, minimum=1, whole=True)
        check_number("max_reference_rows", self.max_reference_rows, minimum=2, whole=True)
        check_numbers("n_neighbors", self.n_neighbors, minimum=1, whole=True)
        check_number("view_freedom", self.view_freedom, minimum=0.0)
        check_number("start_trust", self.start_trust, above=0.0, maximum=MOST_TRUST)
        _check_names("looks", self.looks, LOOKS, needed=VIEWS[:-1])
        _check_names("experts", self.experts, tuple(EXPERTS), needed=tuple(EXPERTS))

    def _preprocess(self, X: NDArray[Any]) -> Floats:
        """Scale a table; its gaps are filled when it is looked at."""
        return self._scaling.transform(X)

    def _fit_unsupervised(self, table: Floats) -> None:
        self._fitted_looks, self._fitted_numbers = tuple(self.looks), tuple(self.n_neighbors)
        gaps = [] if self._layout is None else self._layout.of_kind(Kind.MISSING_INDICATOR)
        self._is_content = np.ones(table.shape[1], dtype=bool)
        self._is_content[[gap.start for gap in gaps]] = False
        self._cells: CellSurprise | None = None
        if self._layout is not None and "surprise" in self.looks:
            self._cells = CellSurprise(
                table, self._layout, SURPRISE_TREES, SURPRISE_ROWS, self._seed
            )
        filled, cells = self._see(table)
        if cells is not None:
            self._cell_scaling = StandardScaling.fit(cells)
        content = filled[:, self._is_content]
        self._surroundings = Surroundings(
            content,
            self.n_isolation_trees,
            max(*self.n_neighbors, N_COMPANY),
            self.max_reference_rows,
            self._seed,
        )
        self._standard = StandardScaling.fit(content)
        places = self._standard.transform(content)
        self._rotation = Rotation(places, self.n_components)
        self._rest = Rest(self._rotation, places, self._seed)
        self._columns = RankTransform.fit(content)
        self._component_scaling = StandardScaling.fit(self._rotation.components(places))
        self._crowding = crowding_of(one_column_each(filled, self._layout))
        looks = self._look(filled, cells)
        self._view_scaling = StandardScaling.fit(join_views(looks))
        self._view_trust = view_trust(looks, self._crowding)
        self._training = self._aspects(filled, looks)

    def _see(self, table: Floats) -> tuple[Floats, Floats | None]:
        """Return rows without gaps, and how surprising their cells are, where that is known.

        Gaps are filled by what the row's other cells let expect, or else by medians.
        """
        if self._cells is None:
            return impute(table, self._medians), None
        cells, expected = self._cells.judge(table)
        return np.where(np.isnan(table), expected, table), cells

    def embed(self, X: Any) -> NDArray[np.float64]:
        """Return rows as points between which there are distances: gaps are filled."""
        filled, _ = self._see(self._preprocess(self._check_table(X)))
        return filled[:, self._is_content]

    def _look(self, filled: Floats, cells: Floats | None) -> dict[str, Floats]:
        """Return what unsupervised looks say of rows, each as (rows, values)."""
        content = filled[:, self._is_content]
        means, loneliness = self._surroundings.neighbours(content, self._fitted_numbers)
        looks = {
            "isolation": self._surroundings.isolation(content)[:, None],
            "distances": means,
            "rest": self._rest(self._standard.transform(content))[:, None],
            "loneliness": loneliness[:, None],
        }
        if cells is not None:
            surprises = self._cell_scaling.transform(cells)
            largest = np.sort(surprises, axis=1)[:, -N_SURPRISES:]
            looks |= {"surprise": largest.mean(axis=1)[:, None], "surprises": surprises}
        wanted = (*self._fitted_looks, "surprises")
        return {name: look for name, look in looks.items() if name in wanted}

    def _aspects(self, filled: Floats, looks: dict[str, Floats]) -> _Aspects:
        least = 0.5 / self._n_rows
        content = filled[:, self._is_content]
        components = self._rotation.components(self._standard.transform(content))
        return _Aspects(
            views=self._view_scaling.transform(join_views(looks)),
            content=content,
            gaps=filled[:, ~self._is_content],
            looks=np.hstack(list(looks.values())),
            components=self._component_scaling.transform(components),
            ranks=ndtri(np.clip(self._columns.transform(content), least, 1 - least)),
        )

    def _fit_labels(self, table: Floats, labels: Labels) -> None:
        known = labels != UNLABELLED
        seen, answers = self._training[known], labels[known]
        self._viewer = ViewExpert(seen.views, answers, self._view_trust, self.view_freedom)
        self._experts: dict[str, Expert] = {}
        self.weights_: dict[str, float] = {}
        self._held_out = self._viewer.held_out
        if not has_both_classes(labels):
            return
        first_opinion = self._viewer.judge(seen.views)
        start = []
        for number, (name, role) in enumerate(EXPERTS.items()):
            if name in self.experts:
                lesson = Lesson(
                    features=getattr(seen, role.aspect),
                    answers=answers,
                    viewer=self._viewer,
                    first_opinion=first_opinion,
                    n_trees=self.n_trees,
                    seed=self._seed + number,
                )
                self._experts[name] = role.teach(lesson)
                start.append(self.start_trust * role.trust(self._crowding))
        held_out = np.column_stack([expert.held_out for expert in self._experts.values()])
        weights = pool_weights(held_out, answers, np.array(start))
        self.weights_ = dict(zip(self._experts, weights.tolist(), strict=True))
        self._held_out = held_out @ weights

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores, which are probabilities already, as log-odds."""
        return logit(scores)

    def _scores_for_mixture(self) -> NDArray[np.float64]:
        return self.log_odds(self.decision_scores_)

    def _out_of_fold_log_odds(self, labels: Labels) -> NDArray[np.float64]:
        held_out = self.decision_scores_.copy()
        held_out[labels != UNLABELLED] = self._held_out
        return logit(held_out)

    def attribute(self, X: Any) -> Attributions:
        """Estimate what each column adds to the scores of rows; `expected` is in units of `X`."""
        table = self._preprocess(self._check_table(X))
        layout, cells, scaling = self._expectations
        surprise, expected = cells.judge(table)
        usual = float(np.median(self.decision_scores_))
        found = occlusion_attributions(
            self._score_preprocessed, table, expected, scaling.transform(surprise), layout, usual
        )
        return replace(found, expected=self._scaling.inverse_transform(expected))

    @property
    def _expectations(self) -> tuple[Layout, CellSurprise, StandardScaling]:
        """What is expected of cells; learned now where no view needed it."""
        if self._cells is not None and self._layout is not None:
            return self._layout, self._cells, self._cell_scaling
        self._check_can_train()
        table = np.empty((self._n_rows, self.n_features_in_))
        table[:, self._is_content] = self._training.content
        table[:, ~self._is_content] = self._training.gaps
        names = [str(number) for number in range(self.n_features_in_)]
        layout = self._layout or Layout.of_numbers(names)
        cells = CellSurprise(table, layout, SURPRISE_TREES, SURPRISE_ROWS, self._seed)
        surprise, _ = cells.judge(table)
        return layout, cells, StandardScaling.fit(surprise)

    def _score_preprocessed(self, table: Floats) -> NDArray[np.float64]:
        filled, cells = self._see(table)
        return self._opinion(self._aspects(filled, self._look(filled, cells)))

    def _score_training_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._opinion(self._training)

    def _opinion(self, rows: _Aspects) -> NDArray[np.float64]:
        first_opinion = self._viewer.judge(rows.views)
        if not self.weights_:
            return first_opinion
        opinion = np.zeros(len(first_opinion))
        for name, expert in self._experts.items():
            features = getattr(rows, EXPERTS[name].aspect)
            opinion += self.weights_[name] * expert.judge(features, first_opinion)
        return opinion


def _check_names(
    setting: str, names: tuple[str, ...], known: tuple[str, ...], needed: tuple[str, ...]
) -> None:
    """Raise unless all names are known and at least one of them is among those needed."""
    if isinstance(names, str) or len(set(names)) < len(names):
        raise SettingError(f"{setting} must be a tuple of different names, got {names!r}.")
    for name in names:
        if name not in known:
            raise UnknownNameError(f"name in {setting}", name, known)
    if not set(names) & set(needed):
        raise SettingError(f"{setting} must name at least one of {', '.join(needed)}.")
