"""Number of questions per round."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imboost.errors import SettingError
from imboost.session import questions_per_round
from imboost.validation import check_number

PAPER = "paper"


@dataclass(frozen=True)
class Budget:
    """Questions per round: the paper's, a fraction of the training rows, or a fixed number.

    Parameters
    ----------
    share : float, optional
        Fraction of the training rows asked per round, at least one row.
    rows : int, optional
        Rows asked per round. Without either, the paper's budget.

    Examples
    --------
    >>> [Budget.parse(text).questions(10_000) for text in ("paper", "0.002", "20rows")]
    [100, 20, 20]
    """

    share: float | None = None
    rows: int | None = None

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Parse "paper", a fraction such as "0.002", or a number such as "20rows"."""
        if text == PAPER:
            return cls()
        rows = re.fullmatch(r"(\d+) ?rows", text)
        try:
            budget = cls(rows=int(rows.group(1))) if rows else cls(share=float(text))
        except ValueError:
            raise SettingError(
                f"budget must be '{PAPER}', a fraction of the rows such as 0.002, or a number "
                f"such as 20rows; got '{text}'."
            ) from None
        budget.check()
        return budget

    def check(self) -> None:
        """Raise if a number is out of range, or both are set."""
        if self.share is not None and self.rows is not None:
            raise SettingError("A budget is a fraction of the rows or a number of rows, not both.")
        if self.share is not None:
            check_number("budget", self.share, above=0.0, maximum=1.0)
        if self.rows is not None:
            check_number("budget", self.rows, minimum=1, whole=True)

    def questions(self, n_rows: int) -> int:
        """Return the questions per round for `n_rows` training rows."""
        if self.rows is not None:
            return min(self.rows, n_rows)
        if self.share is not None:
            return max(1, int(self.share * n_rows))
        return questions_per_round(n_rows)

    def __str__(self) -> str:
        if self.rows is not None:
            return f"{self.rows}rows"
        return PAPER if self.share is None else repr(self.share)
