"""Requests and responses of the REST service.

The request body has one field for every column of the training table. The values of
responses are filled in `serving/app.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import pyarrow as pa
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    create_model,
)

from imboost.detectors.table_detector import TableDetector
from imboost.scoring.score_files import PREDICTED, SCORE_COLUMNS
from imboost.tables.encoder import CategoryEncoder, ColumnEncoder
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema


def _check_encodable(text: str) -> str:
    """Raise if a string holds lone surrogates, which JSON can express but UTF-8 cannot."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("Input should be text without lone surrogates")
    return text


MAX_UNKNOWN_COLUMNS = 10  # in one row
INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)$")

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[StrictStr, AfterValidator(_check_encodable)]
Identifier = Text | StrictInt | Number | None

CELL_TYPES: dict[Role, Any] = {
    Role.NUMERIC: Number | None,
    Role.CATEGORICAL: Text | None,
    Role.BOOLEAN: StrictBool | Number | Text | None,
    Role.DATETIME: Text | None,
    Role.IDENTIFIER: Identifier,
}
"""Types of a value by the role of its column; columns of other roles accept anything."""

HINTS = {
    Role.DATETIME: "Such as 2026-01-31T13:45:00; text that is no date or time counts as missing.",
    Role.IDENTIFIER: "Returned with the response; not used for scoring.",
}


class ErrorBody(BaseModel):
    """An error."""

    detail: str


PREDICTIONS = [name for name in PREDICTED if name != "row"]
JSON_TYPES: dict[pa.DataType, Any] = {pa.float64(): float, pa.bool_(): bool}
PREDICTION_FIELDS: Any = {name: (JSON_TYPES[SCORE_COLUMNS[name]], ...) for name in PREDICTIONS}
Score: Any = create_model(
    "Score",
    __doc__="The predictions for a row.",
    identifiers=(dict[str, Identifier], ...),
    **PREDICTION_FIELDS,
)


class Scores(BaseModel):
    """The predictions for all rows, in their order."""

    model: str = Field(description="Name of the model that made the scores.")
    scores: list[Score]


def score_body(identifiers: dict[str, Identifier], values: Sequence[Any]) -> dict[str, Any]:
    """Return a `Score`, given the predictions in the order of `PREDICTED`."""
    return {"identifiers": identifiers, **dict(zip(PREDICTIONS, values, strict=True))}


class ReasonBody(BaseModel):
    """The contribution of one column to a row's score."""

    kind: str = Field(description="What is unusual: value, rule or near-duplicate.")
    column: str
    value: str | None
    contribution: float
    tolerance: float
    expected: str
    reference_share: float
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
    """The explanations of all rows, in their order."""

    explanations: list[ExplainedScore]


class ColumnBody(BaseModel):
    """A column of the training table."""

    name: str
    role: str
    is_used: bool
    n_missing: int
    n_distinct: int
    note: str


class Metadata(BaseModel):
    """The model and its training table."""

    detector: str
    version: str
    threshold: float
    n_training_rows: int
    n_training_outliers: int
    columns: list[ColumnBody]
    max_rows: int
    max_explained_rows: int


class RowModel:
    """Pydantic models of the rows of a detector's table, and their conversion to Arrow."""

    def __init__(self, detector: TableDetector) -> None:
        self._schema = detector.schema_
        # Column names need not be Python identifiers, and may equal attributes of BaseModel.
        self._fields = {column.name: f"column_{at}" for at, column in enumerate(self._schema)}
        encoders = detector.encoder_.encoders
        fields: Any = {
            self._fields[column.name]: _field(column, encoders.get(column.name))
            for column in self._schema
        }
        self._model: type[BaseModel] = create_model(
            "Row",
            __config__=ConfigDict(extra="forbid"),
            __doc__="A row of the table, column by column.",
            **fields,
        )

    def batch(self, name: str, n_rows: int) -> type[BaseModel]:
        """Return the model of a request with at most `n_rows` rows."""
        row: Any = Annotated[self._model, BeforeValidator(self._check_columns)]
        length = Field(min_length=1, max_length=n_rows)
        # A list of the errors of all rows could fill the memory.
        rows: Any = Annotated[list[row], length, FailFast()]
        config = ConfigDict(extra="forbid")
        return create_model(
            name, __config__=config, __doc__="Rows of the table.", rows=(rows, ...)
        )

    def table(self, rows: Sequence[BaseModel]) -> pa.Table:
        """Return the columns that are used for scoring."""
        columns = {}
        for column in self._schema:
            if column.role.is_feature:
                cells = [getattr(row, self._fields[column.name]) for row in rows]
                if column.role == Role.NUMERIC:
                    columns[column.name] = pa.array(cells, pa.float64())
                else:
                    texts = [None if cell is None else str(cell) for cell in cells]
                    columns[column.name] = pa.array(texts, pa.string())
        return pa.table(columns)

    def identifiers(self, row: BaseModel) -> dict[str, Identifier]:
        """Return the identifiers of a row, if it was sent with any."""
        return {
            column.name: getattr(row, self._fields[column.name])
            for column in self._schema
            if column.role == Role.IDENTIFIER and self._fields[column.name] in row.model_fields_set
        }

    def _check_columns(self, cells: Any) -> Any:
        """Raise if a row has far more columns than the table: each would be an error."""
        if isinstance(cells, dict) and len(cells) > len(self._fields) + MAX_UNKNOWN_COLUMNS:
            raise ValueError(
                f"{len(cells):,} columns; the training table had {len(self._fields):,}"
            )
        return cells


def describe_model(
    detector: TableDetector, version: str, n_rows: int, n_explained: int
) -> Metadata:
    """Describe a model for clients."""
    return Metadata(
        detector=detector.model_name,
        version=version,
        threshold=detector.threshold_,
        n_training_rows=len(detector.decision_scores_),
        n_training_outliers=int(detector.labels_.sum()),
        columns=[
            ColumnBody(
                **{**vars(column), "role": str(column.role)}, is_used=column.role.is_feature
            )
            for column in detector.schema_
        ],
        max_rows=n_rows,
        max_explained_rows=n_explained,
    )


def _field(column: ColumnSchema, encoder: ColumnEncoder | None) -> tuple[Any, Any]:
    kind = CELL_TYPES.get(column.role, Any)
    if column.role == Role.CATEGORICAL and isinstance(encoder, CategoryEncoder):
        categories = (*encoder.categories, *encoder.frequency_bins)
        kind = Identifier if any(INTEGER.match(category) for category in categories) else kind
    hint = HINTS.get(column.role, "" if column.role.is_feature else "Not used for scoring.")
    settings: dict[str, Any] = {"alias": column.name, "title": column.name}
    if hint:
        settings["description"] = hint
    return kind, Field(... if column.role.is_feature else None, **settings)
