"""Number of questions per round: "paper", a fraction of the rows, or a fixed number."""

from __future__ import annotations

import re

from imboost.errors import SettingError
from imboost.session import questions_per_round
from imboost.validation import check_number

PAPER = "paper"


def parse_budget(text: str) -> str:
    """Check "paper", a fraction such as "0.002" or a number such as "20rows"; unify spellings.

    >>> [parse_budget(text) for text in ("paper", "1e-3", "20 rows")]
    ['paper', '0.001', '20rows']
    """
    if text == PAPER:
        return text
    rows = re.fullmatch(r"(\d+) ?rows", text)
    try:
        number = int(rows[1]) if rows else float(text)
    except ValueError:
        raise SettingError(
            f"budget must be '{PAPER}', a fraction of the rows such as 0.002, or a number such "
            f"as 20rows; got '{text}'."
        ) from None
    check_number("budget", number, above=0.0, maximum=None if rows else 1.0)
    return f"{number}rows" if rows else repr(number)


def count_questions(budget: str, n_rows: int) -> int:
    """Return the questions per round for `n_rows` training rows, at least one.

    >>> [count_questions(budget, 10_000) for budget in ("paper", "0.002", "20rows")]
    [100, 20, 20]
    """
    if budget == PAPER:
        return questions_per_round(n_rows)
    if budget.endswith("rows"):
        return min(int(budget.removesuffix("rows")), n_rows)
    return max(1, int(float(budget) * n_rows))
