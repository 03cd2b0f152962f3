"""What the templates of the labelling page show: plain values, ready to be printed.

Every text from the data is a plain string, which templates escape; only `picture` fields are
markup, made by `imboost.present.pictures`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from imboost.session.answers import Answer


@dataclass(frozen=True, kw_only=True)
class CellView:
    """A cell of the row in question.

    Parameters
    ----------
    column : str
    value : str
        Empty if the cell is missing.
    expected : str
        The value predicted from the other cells. This and what follows is empty for cells that
        are no reason.
    position : str
        Where the value lies among reference rows, such as "above 99.8% of reference rows".
    strength : float
        Contribution relative to the largest one of the row, from 0 to 1.
    picture : Markup
        The distribution of the column with a mark at the value.
    is_row : bool
        Whether this is not a cell but a reason about the whole row.
    """

    column: str
    value: str
    expected: str = ""
    position: str = ""
    strength: float = 0.0
    picture: Markup = field(default_factory=Markup)
    is_row: bool = False


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
    """Unanswered rows that are like the row in question.

    `columns` are the columns that the rows share; `reason` says so in a few words, such as
    "the same city and state".
    """

    reason: str
    columns: list[str]
    rows: list[GroupRow]


@dataclass(frozen=True, kw_only=True)
class QuestionView:
    """The row in question.

    Parameters
    ----------
    row : int
    name : str
        Its identifiers, or its number.
    request : str
        A fresh id: an answer that is sent twice counts once.
    score : float
    rank : int
        1 is the highest score.
    n_rows : int
    probability : float
        Of being an outlier, as the model sees it.
    is_called : bool
        Whether the score is above the threshold.
    origin : str
        Why the row is asked, in one sentence.
    reasons : list of CellView
        The cells that make the row unusual, the strongest first; may be empty.
    others : list of CellView
        The other cells.
    score_picture : Markup
        The scores of all rows with a mark at this one.
    similar : list of SimilarRow
    group : Group or None
    answers : list of (str, Answer)
        What was answered about the row so far, by person.
    note : str
        The note of the last answer.
    is_open : bool
        Whether the row is an open question; rows from the list of suspects need not be.
    is_explained : bool
        Whether reasons are known already; they follow shortly after new questions.
    """

    row: int
    name: str
    request: str
    score: float
    rank: int
    n_rows: int
    probability: float
    is_called: bool
    origin: str
    reasons: list[CellView]
    others: list[CellView]
    score_picture: Markup
    similar: list[SimilarRow] = field(default_factory=list)
    group: Group | None = None
    answers: list[tuple[str, Answer]] = field(default_factory=list)
    note: str = ""
    is_open: bool = True
    is_explained: bool = True


@dataclass(frozen=True)
class TrainingView:
    """A training in progress: what is being done, and the estimated seconds left."""

    text: str
    fraction: float
    seconds_left: float | None


@dataclass(frozen=True, kw_only=True)
class PanelView:
    """The side panel.

    Parameters
    ----------
    round : int
        Number of trainings with answers.
    n_open : int
        Open questions.
    n_answers : int
        Rows with an answer.
    n_outliers, n_inliers, n_unsure, n_skipped : int
        Rows by their answer.
    found_picture : Markup
        Outliers found by number of answers.
    score_picture : Markup
        Distribution of the scores with the threshold.
    n_called : int
        Rows that are called outliers.
    precision, missed : str
        Estimates with their 90% intervals, as text; empty before any answer.
    is_threshold_estimated : bool
    advice : str
        One sentence.
    should_stop : bool
    training : TrainingView or None
    until_training : int
        Answers until the next training starts.
    n_disagreements : int
        Answers that the model contradicts, and rows about which people disagree.
    agreement : str
        Agreement of several people, as text; empty for one person.
    error : str
        What went wrong with training or storage; empty if nothing did.
    """

    round: int
    n_open: int
    n_answers: int
    n_outliers: int
    n_inliers: int
    n_unsure: int
    n_skipped: int
    found_picture: Markup
    score_picture: Markup
    n_called: int
    precision: str
    missed: str
    is_threshold_estimated: bool
    advice: str
    should_stop: bool
    training: TrainingView | None
    until_training: int
    n_disagreements: int
    agreement: str = ""
    error: str = ""


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
    is_called: bool
    answer: str
    values: list[str]


@dataclass(frozen=True, kw_only=True)
class SuspectsView:
    """A page of the list of rows by score.

    `sort` is "score" or the name of a column; `columns` are the columns that the list shows.
    """

    rows: list[SuspectRow]
    columns: list[str]
    all_columns: list[str]
    sort: str
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
    """An answer that the model contradicts, or a row about which people disagree.

    `probability` is the out-of-fold probability of being an outlier; None for a conflict.
    """

    row: int
    name: str
    answers: list[tuple[str, Answer]]
    probability: float | None


@dataclass(frozen=True)
class DisagreementsView:
    """Answers that should be looked at again."""

    doubtful: list[Disagreement]
    conflicts: list[Disagreement]
