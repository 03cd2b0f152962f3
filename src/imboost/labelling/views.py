"""What the templates and the terminal show of a session: plain values, ready to be printed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from markupsafe import Markup

from imboost.present.rows import RowView
from imboost.session.answers import Answer
from imboost.session.log import Answered


@dataclass(frozen=True)
class Group:
    """Unanswered rows that are like the row in question, and the columns that they share."""

    reason: str  # such as "the same city and state"
    columns: list[str]
    rows: list[RowView]


@dataclass(frozen=True, kw_only=True)
class QuestionView(RowView):
    """The row in question."""

    request: str  # a fresh id: an answer that is sent twice counts once
    n_rows: int
    origin: str  # why the row is asked, in one sentence
    score_picture: Markup
    similar: list[RowView] = field(default_factory=list)  # answered; cells are what differs most
    group: Group | None = None
    answers: list[tuple[str, Answer]] = field(default_factory=list)  # so far, by person
    note: str = ""  # of the last answer
    is_open: bool = True  # an open question; rows from a list need not be
    is_explained: bool = True  # reasons are known; they follow shortly after new questions


@dataclass(frozen=True)
class TrainingView:
    """A training in progress: what is being done, and the estimated seconds left."""

    text: str
    fraction: float
    seconds_left: float | None


@dataclass(frozen=True, kw_only=True)
class PanelView:
    """The side panel."""

    round: int  # trainings with answers
    n_open: int  # open questions
    counts: Counter[Answer]  # number of rows with each answer
    found_picture: Markup  # outliers found by number of answers
    score_picture: Markup
    n_predicted: int  # predicted outliers
    precision: str  # with its 90% interval; empty before any answer
    missed: str  # likewise
    is_threshold_estimated: bool
    advice: str
    should_stop: bool
    training: TrainingView | None
    until_training: int  # answers until the next training starts
    n_disagreements: int  # answers that the model or other people disagree with
    agreement: str = ""  # of several people
    error: str = ""  # what went wrong with training or storage


@dataclass(frozen=True, kw_only=True)
class ColumnView:
    """A column before training: its role, which can be changed, and what it holds."""

    index: int
    name: str
    role: str
    inferred_role: str
    n_missing: int
    n_distinct: int
    note: str
    examples: list[str]
    picture: Markup = field(default_factory=Markup)


@dataclass(frozen=True, kw_only=True)
class ColumnsView:
    """The columns of the table, the roles to choose from, and findings about the whole table."""

    columns: list[ColumnView]
    roles: list[str]
    n_rows: int
    findings: list[str]
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class SuspectsView:
    """A page of the list of rows, and how it is sorted and filtered."""

    rows: list[RowView]
    columns: list[str]  # shown in the list
    all_columns: list[str]
    sort: str  # "score" or the name of a column
    descending: bool
    column: str
    value: str
    answered: str
    page: int
    n_pages: int
    n_rows: int


@dataclass(frozen=True)
class HistoryEntry:
    """An entry of the history; `is_current` if no later entry replaced it."""

    number: int
    name: str
    entry: Answered
    is_current: bool


@dataclass(frozen=True)
class HistoryView:
    """A page of the history, newest first."""

    entries: list[HistoryEntry]
    page: int
    n_pages: int
    n_entries: int


@dataclass(frozen=True)
class Disagreement:
    """An answer that the model or other people disagree with.

    `probability` is the out-of-fold probability of being an outlier; None if people disagree.
    """

    row: int
    name: str
    answers: list[tuple[str, Answer]]
    probability: float | None


@dataclass(frozen=True)
class DisagreementsView:
    """Answers to review."""

    doubtful: list[Disagreement]
    conflicts: list[Disagreement]
