"""How the cells of a column are read: decided once, by all cells of the training table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.data.cells import (
    DAY_FIRST,
    DECIMAL_COMMA,
    GROUPED,
    ISO,
    MONTH_FIRST,
    TIME_FORMS,
    is_wordy,
    levels,
    numbers,
    plain,
    times,
    truths,
    without_signs,
)


@dataclass(frozen=True)
class NumberReader:
    """Reads numbers.

    Parameters
    ----------
    grouped : bool
        Whether commas part thousands; otherwise they stand before decimals.
    """

    grouped: bool = False
    wanted: ClassVar[str] = "a number"
    unread: ClassVar[str] = "no number"

    @classmethod
    def fit(cls, cells: pa.ChunkedArray) -> Self:
        """Learn what commas are: of thousands, unless cells have other numbers of digits.

        >>> NumberReader.fit(pa.chunked_array([["1,234", "56"]]))
        NumberReader(grouped=True)
        """
        group, decimal, either = _commas(cells)
        return cls(group > decimal or (group == decimal and either > 0))

    def read(self, cells: pa.ChunkedArray) -> NDArray[np.float64]:
        """Return numbers; nan where a cell is missing or says none."""
        return numbers(cells, grouped=self.grouped)

    def note(self, cells: pa.ChunkedArray) -> str:
        """Return what a user should know about how training cells were read."""
        if not any(_commas(cells)):
            return ""
        return "1,234 is read as 1234" if self.grouped else "2,5 is read as 2.5"


@dataclass(frozen=True)
class TimeReader:
    """Reads times.

    Parameters
    ----------
    form : str
        How they are written, where it is not as in ISO 8601: one of `TIME_FORMS`.
    """

    form: str = ISO
    wanted: ClassVar[str] = "a time"
    unread: ClassVar[str] = "no time"

    @classmethod
    def fit(cls, cells: pa.ChunkedArray) -> Self:
        """Learn the form that suits most cells.

        >>> TimeReader.fit(pa.chunked_array([["03/04/2024", "04/13/2024"]]))
        TimeReader(form='MM/DD/YYYY')
        """
        other = _without_iso(cells)
        counts = {form: _n_times(other, form) for form in TIME_FORMS} if len(other) else {ISO: 0}
        return cls(max(counts, key=lambda form: counts[form]))

    def read(self, cells: pa.ChunkedArray) -> NDArray[np.float64]:
        """Return seconds since 1970; nan where a cell is missing or says no time."""
        return times(cells, self.form)

    def note(self, cells: pa.ChunkedArray) -> str:
        """Return what a user should know about how training cells were read."""
        if self.form not in (DAY_FIRST, MONTH_FIRST):
            return ""
        other = _without_iso(cells)
        if _n_times(other, DAY_FIRST) != _n_times(other, MONTH_FIRST):
            return ""
        return f"day or month may come first; read as {self.form}"


@dataclass(frozen=True)
class WordReader:
    """Reads levels of a category, or yes and no.

    Parameters
    ----------
    spelled : tuple of two str, optional
        How no and yes are written, whatever cells write for them. Without it, cells are
        categories.
    """

    spelled: tuple[str, str] | None = None
    wanted: ClassVar[str] = "yes or no"
    unread: ClassVar[str] = "neither yes nor no"

    @classmethod
    def fit(cls, cells: pa.ChunkedArray) -> Self:
        """Learn how no and yes are written.

        >>> WordReader.fit(pa.chunked_array([["Y", "N", "y", "N", "Y"]]))
        WordReader(spelled=('N', 'Y'))
        """
        said, written = truths(cells), levels(cells)
        no, yes = (
            _most_common(written.filter(pa.array(said == truth)), otherwise)
            for truth, otherwise in ((0.0, "false"), (1.0, "true"))
        )
        return cls((no, yes))

    def read(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return text; null where a cell is missing or says neither yes nor no."""
        if self.spelled is None:
            return levels(cells)
        no, yes = self.spelled
        said = truths(cells)
        written = pc.if_else(pa.array(said == 1), yes, no)
        return pa.chunked_array([pc.if_else(pa.array(np.isnan(said)), None, written)])

    def note(self, _cells: pa.ChunkedArray) -> str:
        """Return what a user should know about how training cells were read: nothing."""
        return ""


Reader = NumberReader | TimeReader | WordReader


def n_unread(reader: Reader, cells: pa.ChunkedArray) -> int:
    """Return how many cells say something that a reader cannot read."""
    found = reader.read(cells)
    missing = int(np.isnan(found).sum()) if isinstance(found, np.ndarray) else found.null_count
    return missing - int(plain(cells).null_count)


def _commas(cells: pa.ChunkedArray) -> tuple[int, int, int]:
    """Return how many cells have commas of thousands, before decimals, or of either kind."""
    cells = plain(cells)
    if not is_wordy(cells.type):
        return 0, 0, 0
    said = without_signs(cells)
    said = said.filter(pc.match_substring(said, ","))
    group, decimal = (pc.match_substring_regex(said, form) for form in (GROUPED, DECIMAL_COMMA))
    n_group, n_decimal, n_either = (
        pc.sum(found).as_py() or 0 for found in (group, decimal, pc.and_(group, decimal))
    )
    return n_group - n_either, n_decimal - n_either, n_either


def _without_iso(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the cells that are there and are no times as in ISO 8601."""
    cells = plain(cells)
    return cells.filter(pa.array(np.isnan(times(cells)))).drop_null()


def _n_times(cells: pa.ChunkedArray, form: str) -> int:
    return int((~np.isnan(times(cells, form))).sum())


def _most_common(written: pa.ChunkedArray, otherwise: str) -> str:
    counted = pc.value_counts(written).to_pylist()
    found = min(counted, key=lambda one: (-one["counts"], one["values"]), default=None)
    return otherwise if found is None else str(found["values"])
