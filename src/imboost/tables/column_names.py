"""Checks of column names."""

from __future__ import annotations

from collections import Counter

from imboost.errors import DataError
from imboost.facts import WHOLE_ROW


def check_columns(
    names: list[str], expected: list[str], where: str, instead: str | None = None
) -> None:
    """Raise, naming the columns, unless `names` are the expected ones in any order.

    The message begins with `where`, such as a file name, and ends with `instead`: what to do if
    the names cannot be changed.
    """
    present, wanted = set(names), set(expected)
    missing = [name for name in expected if name not in present]
    extra = [name for name in names if name not in wanted]
    if not (missing or extra):
        return
    problems = [
        f"{kind} column{'s' * (len(found) > 1)} {_listed(found)}"
        for kind, found in (("lacks the", missing), ("has the extra", extra))
        if found
    ]
    pronoun = "it" if len(missing) <= 1 and len(extra) <= 1 else "them"
    advice = "rename {}" if missing and extra else "add {}" if missing else "leave {} out"
    rest = f", or {instead}" if instead else ""
    raise DataError(f"{where} {' and '.join(problems)}: {advice.format(pronoun)}{rest}.")


def check_unique(names: list[str], where: str) -> None:
    """Raise, naming them, if columns share a name, or one has that of the whole row."""
    if WHOLE_ROW in names:
        raise DataError(
            f"{where} has a column called '{WHOLE_ROW}', which stands for whole rows in reasons: "
            "rename it."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{where} has several columns called {_listed(twice)}; rename them.")


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
