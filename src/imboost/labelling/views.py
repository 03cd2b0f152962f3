"""What the templates and the terminal show of a session: plain values, ready to be printed.

Every text from the data is a plain string, which templates escape; only `picture` fields are
markup, made by `imboost.present.pictures`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from imboost.session.answers import Answer


@dataclass(frozen=True, kw_only=True)
class CellView:
    """A cell of the row in question; what follows the value is empty unless it is a reason."""

    column: str
    value: str  # empty if the cell is missing
    expected: str = ""  # the value predicted from the other cells
    position: str = ""  # such as "above 99.8% of reference rows"
    strength: float = 0.0  # contribution relative to the largest one of the row
    picture: Markup = field(default_factory=Markup)
    is_row: bool = False  # a reason about the whole row, not a cell


@dataclass(frozen=True)
class SimilarRow:
    """An answered row that is similar to the row in question.

    `differences` are the columns in which the two rows differ most, with the values of the
    answered row.
    """

    row: int
    name: str
    answer: Answer
    differences: list[tuple[str, str]]


@dataclass(frozen=True)
class GroupRow:
    """A row that is offered for the same answer, with its cells of the shared columns."""

    row: int
    name: str
    score: float
    values: list[str]


@dataclass(frozen=True)
class Group:
    """Unanswered rows that are like the row in question, and the columns that they share."""

    reason: str  # such as "the same city and state"
    columns: list[str]
    rows: list[GroupRow]


@dataclass(frozen=True, kw_only=True)
class QuestionView:
    """The row in question."""

    row: int
    name: str  # its identifiers, or its number
    request: str  # a fresh id: an answer that is sent twice counts once
    score: float
    rank: int  # 1 is the highest score
    n_rows: int
    probability: float
    is_outlier: bool  # predicted by the model
    origin: str  # why the row is asked, in one sentence
    reasons: list[CellView]  # the strongest first
    others: list[CellView]
    score_picture: Markup
    similar: list[SimilarRow] = field(default_factory=list)
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
    n_answers: int  # rows with an answer
    n_outliers: int
    n_inliers: int
    n_unsure: int
    n_skipped: int
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
class SuspectRow:
    """A row in the list of suspects; `answer` is empty if there is none."""

    row: int
    name: str
    rank: int
    score: float
    probability: float
    is_outlier: bool
    answer: str
    values: list[str]


@dataclass(frozen=True, kw_only=True)
class SuspectsView:
    """A page of the list of rows, and how it is sorted and filtered."""

    rows: list[SuspectRow]
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


@dataclass(frozen=True, kw_only=True)
class HistoryEntry:
    """An entry of the history; `is_current` if no later entry replaced it."""

    number: int
    row: int
    name: str
    answer: str
    who: str
    time: str
    kind: str
    note: str
    seconds: str
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
