"""The columns that say what a model and people know about a row.

Files of scores, downloads, replayed logs and replies of the service have some of them, under these
names and in this order.
"""

from __future__ import annotations

import pyarrow as pa

SCORE_COLUMNS = {
    "row": pa.int64(),
    "score": pa.float64(),
    "rank": pa.int64(),
    "probability": pa.float64(),
    "is_outlier": pa.bool_(),
    "answer": pa.string(),
}
"""Arrow types of the columns."""

PREDICTED = ("row", "score", "probability", "is_outlier")
"""Those that follow from a row alone, without the other rows or a session."""


def schema_of(*names: str) -> pa.Schema:
    """Return the names and types of some of the columns."""
    return pa.schema([(name, SCORE_COLUMNS[name]) for name in names])
