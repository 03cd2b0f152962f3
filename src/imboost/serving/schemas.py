"""What the scoring service takes and gives, in the words of the table that a model knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import pyarrow as pa
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    create_model,
)

from imboost.detectors.table_detector import TableDetector
from imboost.tables.column_encoders import CategoryEncoder, ColumnEncoder
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema


def _check_whole(text: str) -> str:
    """Raise if a text holds half of a character, which JSON can write."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("Input should be text without halves of characters")
    return text


WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)$")

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[StrictStr, AfterValidator(_check_whole)]
Identifier = Text | StrictInt | Number | None

CELL_TYPES: dict[Role, Any] = {
    Role.NUMERIC: Number | None,
    Role.CATEGORICAL: Text | None,
    Role.BOOLEAN: StrictBool | Number | Text | None,
    Role.DATETIME: Text | None,
    Role.IDENTIFIER: Identifier,
}
"""What a cell may be, by the role of its column; others may be anything."""

NUMBERED: Any = Text | StrictInt | Number | None
"""What a cell of a category may be if levels are whole numbers."""

HINTS = {
    Role.DATETIME: "Such as 2026-01-31T13:45:00; a text that says no time counts as missing.",
    Role.IDENTIFIER: "Given back with the answer; never looked at.",
}


class ErrorBody(BaseModel):
    """Why there is no other answer."""

    detail: str


class Health(BaseModel):
    """That the service is there."""

    status: str


class Score(BaseModel):
    """What is said of a row."""

    identifiers: dict[str, Identifier]
    score: float
    probability: float
    is_outlier: bool


class Scores(BaseModel):
    """What is said of all rows, in their order."""

    scores: list[Score]


class ReasonBody(BaseModel):
    """What one column adds to a row's score."""

    column: str
    value: str | None
    contribution: float
    tolerance: float
    expected: str
    percentile: float
    position: str


class ExplainedScore(BaseModel):
    """Why a row has its score: the sum of the baseline, the residual and all contributions."""

    identifiers: dict[str, Identifier]
    score: float
    is_outlier: bool
    baseline: float
    residual: float
    is_exact: bool
    reasons: list[ReasonBody]


class Explanations(BaseModel):
    """Why rows have their scores, in their order."""

    explanations: list[ExplainedScore]


class ColumnBody(BaseModel):
    """A column of the training table."""

    name: str
    role: str
    is_looked_at: bool
    n_missing: int
    n_distinct: int
    note: str


class Metadata(BaseModel):
    """What the model is and what it knows."""

    detector: str
    version: str
    threshold: float
    n_training_rows: int
    n_training_outliers: int
    columns: list[ColumnBody]
    max_rows: int
    max_explained_rows: int


class RowModel:
    """The rows of one table as a service takes them.

    Parameters
    ----------
    detector : TableDetector
        Its columns and their roles are those of a row.

    Attributes
    ----------
    model : type of BaseModel
        A row; every column is a field with the column's own name.
    """

    def __init__(self, detector: TableDetector) -> None:
        self._schema = detector.schema_
        # Names of columns may be no names of Python's, or those of a model's own methods.
        self._fields = {column.name: f"column_{at}" for at, column in enumerate(self._schema)}
        encoders = detector.encoder_.encoders
        fields: Any = {
            self._fields[column.name]: _field(column, encoders.get(column.name))
            for column in self._schema
        }
        self.model: type[BaseModel] = create_model(
            "Row",
            __config__=ConfigDict(extra="forbid"),
            __doc__="A row of the table, column by column.",
            **fields,
        )

    def batch(self, name: str, n_rows: int) -> type[BaseModel]:
        """Return the model of a request with at most so many rows."""
        rows = Annotated[list[self.model], Field(min_length=1, max_length=n_rows)]  # type: ignore[name-defined]
        made: type[BaseModel] = create_model(
            name,
            __config__=ConfigDict(extra="forbid"),
            __doc__="Rows of the table.",
            rows=(rows, ...),
        )
        return made

    def table(self, rows: Sequence[BaseModel]) -> pa.Table:
        """Return the columns that are looked at."""
        columns = {}
        for column in self._schema:
            if column.role.is_feature:
                cells = [getattr(row, self._fields[column.name]) for row in rows]
                if column.role == Role.NUMERIC:
                    columns[column.name] = pa.array(cells, pa.float64())
                else:
                    said = [None if cell is None else str(cell) for cell in cells]
                    columns[column.name] = pa.array(said, pa.string())
        return pa.table(columns)

    def identifiers(self, row: BaseModel) -> dict[str, Identifier]:
        """Return the identifiers that a row was sent with."""
        return {
            column.name: getattr(row, self._fields[column.name])
            for column in self._schema
            if column.role == Role.IDENTIFIER and self._fields[column.name] in row.model_fields_set
        }


def describe(detector: TableDetector, version: str, n_rows: int, n_explained: int) -> Metadata:
    """Return what a client may want to know of a model."""
    return Metadata(
        detector=type(detector.detector_).__name__,
        version=version,
        threshold=detector.threshold_,
        n_training_rows=len(detector.decision_scores_),
        n_training_outliers=int(detector.labels_.sum()),
        columns=[
            ColumnBody(
                name=column.name,
                role=str(column.role),
                is_looked_at=column.role.is_feature,
                n_missing=column.n_missing,
                n_distinct=column.n_distinct,
                note=column.note,
            )
            for column in detector.schema_
        ],
        max_rows=n_rows,
        max_explained_rows=n_explained,
    )


def _field(column: ColumnSchema, encoder: ColumnEncoder | None) -> tuple[Any, Any]:
    kind = CELL_TYPES.get(column.role, Any)
    if column.role == Role.CATEGORICAL and isinstance(encoder, CategoryEncoder):
        levels = (*encoder.categories, *encoder.frequency_bins)
        kind = NUMBERED if any(WHOLE.match(level) for level in levels) else kind
    hint = HINTS.get(column.role, "" if column.role.is_feature else "Not looked at.")
    settings: dict[str, Any] = {"alias": column.name, "title": column.name}
    if hint:
        settings["description"] = hint
    return kind, Field(... if column.role.is_feature else None, **settings)
