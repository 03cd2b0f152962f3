"""Fitted detectors as a notebook shows them, below scikit-learn's own diagram."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from imboost.present.formatting import count, number, percent
from imboost.present.notebook_tables import notebook_pairs, notebook_table

if TYPE_CHECKING:
    from imboost.detectors.detector import Detector
    from imboost.tables.schema import ColumnSchema

MAX_COLUMNS = 60  # columns of a table that are listed


def fitted_html(detector: Detector, columns: Iterable[ColumnSchema] = ()) -> str:
    """Return training rows, labels, threshold, number of outliers and columns as HTML.

    Nothing before the detector is fitted.
    """
    if not hasattr(detector, "decision_scores_"):
        return ""
    n_rows, n_predicted = len(detector.decision_scores_), int(detector.labels_.sum())
    labels = detector.decision_.labels
    known = f"{number((labels == 1).sum())} outlier, {number((labels == 0).sum())} inlier"
    estimate = ", a rough estimate" if detector.decision_.is_estimated else ""
    pairs = [
        ("training rows", number(n_rows)),
        ("labels", known if (labels >= 0).any() else "none"),
        ("threshold", number(detector.threshold_) + estimate),
        ("predicted outliers", f"{number(n_predicted)} ({percent(n_predicted / max(n_rows, 1))})"),
    ]
    listed = list(columns)
    rows = [
        (one.name, str(one.role), number(one.n_missing), number(one.n_distinct), one.note)
        for one in listed[:MAX_COLUMNS]
    ]
    table = notebook_table(("column", "role", "missing", "distinct", "note"), rows)
    n_more = len(listed) - len(rows)
    more = f"<p>and {count(n_more, 'other column')}</p>" if n_more else ""
    return f"<div>{notebook_pairs(pairs)}{table}{more}</div>"
