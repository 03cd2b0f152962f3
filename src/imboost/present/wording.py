"""Sentences about facts: reasons of a score, broken rules, findings and changed columns.

This is the only module that makes them, and nothing parses them back.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from imboost.decide import Outcome
from imboost.facts import (
    BrokenRule,
    Cell,
    Fact,
    FactKind,
    GroupedBy,
    Position,
    RareCategories,
    RuleKind,
)
from imboost.present.formatting import count, number, percent, rounded, shorten

RARE = 0.01  # smaller shares are written "1 of N reference rows"
MAX_QUOTED, MAX_SPELLINGS = 3, 5  # values and spellings in a message
RESIDUAL = (
    "Most of the score is not attributed to any column: the row is unusual as a whole, and the "
    "contributions explain little."
)
AS_A_WHOLE = "Unusual as a whole: no single column explains the score."
SUM = (
    "The baseline is the score of a typical row, the residual is the part that no column "
    "explains; with all contributions they sum to the score."
)

POSITIONS = {
    Position.LATER: "later in the day than {rows}",
    Position.EARLIER: "earlier in the day than {rows}",
    Position.SAME: "as in {rows}",
    Position.AMONG: "in {rows}",
    Position.MISSING: "missing in {rows}",
    Position.NO_VALUES: "no reference row has a value",
}
"""Positions that are not above or below."""

FINDINGS = {
    FactKind.DUPLICATE: "{rows} repeat{s} an earlier row in every column",
    FactKind.NEAR_DUPLICATE: "{rows} repeat{s} an earlier row in all but one or two columns",
    FactKind.REPEATED_ID: "{rows} repeat{s} an earlier value of {name}",
    FactKind.RULE: "{rows} break{s} a rule of the other rows{first}: {in_row}",
    FactKind.IMPOSSIBLE_DATE: "{cells} of {name} {are} no possible date or time: {texts}",
    FactKind.FUTURE_DATE: "{values} of {name} {are} in the future: {texts}",
    FactKind.FAR_DATE: "{values} of {name} {are} far from all others: {texts}",
    FactKind.UNREADABLE: "{cells} of {name} hold{s} no {content}: {texts}",
    FactKind.SPACES: "{cells} of {name} begin{s} or end{s} with a space",
    FactKind.SPELLING: "{name} has other spellings of the same value: {spellings}",
    FactKind.SENTINEL: "{name} is {value} in {rows}, apart from the other {others} (mostly "
    "{range}): it may stand for a missing value",
    FactKind.UNIT: "{values} of {name} {are} about {factor} times {size} than the others "
    "({range}): units may be mixed ({content})",
}
"""Findings about rows and cells."""

CHANGES = {
    FactKind.ABSENT_COLUMN: "not in this table; the model {needs} it",
    FactKind.NEW_COLUMN: "not in the training table",
    FactKind.UNUSED_COLUMN: "not used: {value}{constant}",
    FactKind.CHANGED_ROLE: "looks {value}, {expected} in training",
    FactKind.MISSING_CELLS: "{now} of cells are missing, {then} in training",
    FactKind.UNREADABLE_CELLS: "{cells} no {content} and count{s} as missing",
    FactKind.UNSEEN_VALUES: "{cells} a value not seen in training",
}
"""How a column differs from the training table."""


def cell(value: Cell, unit: float | None = None) -> str:
    """Write the value of a cell; numbers have four digits, or the decimals of `unit`.

    >>> cell(52962.7), cell(0.012345), cell(12.5, 0.01), cell(np.datetime64("2024-01-02T00:00"))
    ('52960', '0.01235', '12.50', '2024-01-02 00:00')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, RareCategories):
        return f"(a category seen at most {value.at_most:,} times)"
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M")
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ").removesuffix(" 00:00:00")
    if unit is not None:
        return rounded(value, unit)
    digits = float(f"{value:.4g}")
    return f"{digits:.0f}" if 1e4 <= abs(digits) < 1e15 else f"{digits:.4g}"


def position(fact: Fact, *, short: bool = False) -> str:
    """Say which rule a cell breaks or, if none, where its value lies.

    `short` leaves out "reference rows", for a table whose heading says it.
    """
    if fact.rule is not None:
        return rule(fact.rule)
    if fact.kind is FactKind.NEAR_DUPLICATE:
        return "another row is the same, or differs in one cell"
    if fact.position is None:
        return ""
    rows = "" if short else " reference rows"
    if fact.share == 0.0:
        rows = "none" if short else "no reference row"
    elif fact.share == 1.0:
        rows = f"all{rows}"
    elif fact.share < RARE:
        rows = f"1 of {1 / fact.share:,.0f}{rows}"
    else:
        rows = percent(fact.share) + (rows and f" of{rows}")
    return POSITIONS.get(fact.position, f"{fact.position} {{rows}}").format(rows=rows)


def rule(broken: BrokenRule, *, is_title: bool = False) -> str:
    """Say which rule a row breaks; a title of several rows leaves out values that may differ."""
    name, cells = broken.columns[0], [cell(one, broken.unit) for one in broken.cells]
    match broken.kind:
        case RuleKind.ORDER:
            low, high = (
                column if is_title else f"{column} ({text})"
                for column, text in zip(broken.columns, cells, strict=True)
            )
            if isinstance(broken.cells[0], np.datetime64):
                return f"{high} should not be before {low}"
            return f"{low} should be at most {high}"
        case RuleKind.FORMAT:
            but = "" if is_title else f", but is '{cells[0]}'"
            return f"{name} should look like '{broken.formula}'{but}"
        case RuleKind.SPELLING:
            return f"{name} {cell(broken.cells[0])} is probably {cell(broken.expected)}"
    expected = "unknown" if broken.expected is None else cell(broken.expected, broken.unit)
    if broken.kind is not RuleKind.DEPENDENCY:
        is_plain = is_title or broken.formula == expected
        return f"{name} should be {broken.formula}" + ("" if is_plain else f" = {expected}")
    if is_title:
        return f"{name} does not fit other columns"
    given = " and ".join(
        f"{column} {value:.15g}" if isinstance(value, float) else f"{column} {cell(value)}"
        for column, value in zip(broken.columns[1:], broken.cells[1:], strict=True)
    )
    return f"{name} should be {expected}, as in other rows with {given}"


def subject(fact: Fact) -> str:
    """Return what a reason is about: a column, or the row as a whole."""
    return "The whole row" if fact.is_about_row else fact.column


def predicate(fact: Fact) -> str:
    """Say what is unusual; with `subject` before it, it is a sentence without a full stop."""
    if fact.is_about_row:
        return f": {position(fact)}"
    value = shorten(fact.text or "missing")
    if fact.rule is not None:
        return f" is {value}: {position(fact)}"
    return f" is {value}, {position(fact)} (expected {cell(fact.expected) or 'missing'})"


def reasons(facts: Sequence[Fact]) -> str:
    """Say in one sentence why a row has its score."""
    parts = [subject(fact) + predicate(fact) for fact in facts]
    return f"{'; '.join(parts)}." if parts else AS_A_WHOLE


def method(facts: Sequence[Fact], *, is_exact: bool) -> str:
    """Say how contributions were computed, which is the same for all rows of a detector."""
    if not is_exact:
        return (
            "Contributions are estimates: half by how far the score falls with the expected value "
            f"in place of the row's own, half by how unlikely the value is. {SUM}"
        )
    exact = f"Contributions are exact: they are terms of the score. {SUM}"
    order = "Columns are sorted by how far their contribution exceeds the typical one."
    return f"{exact} {order}" if any(fact.tolerance for fact in facts) else exact


def group(fact: Fact | None, grouped_by: GroupedBy) -> str:
    """Return the title of a group of rows, given the strongest reason of one of them."""
    if fact is None:
        return "unusual as a whole, not in a single column"
    match grouped_by:
        case GroupedBy.ROW:
            return "repeats another row"
        case GroupedBy.RULE if fact.rule is not None:
            return rule(fact.rule, is_title=True)
        case GroupedBy.VALUE:
            return f"{fact.column} {shorten(fact.text or 'missing')}"
    side = "unusual" if grouped_by is GroupedBy.COLUMN else str(grouped_by)
    return f"{fact.column} {side}, with different values"


def finding(facts: Sequence[Fact]) -> str:
    """Say in one sentence what is wrong with the rows of a finding, or with a column."""
    one, n = facts[0], len(facts)
    if one.kind in CHANGES:
        return f"{one.column}: {column_change(one)}."
    distinct = dict.fromkeys(f"'{fact.text or ''}'" for fact in facts)
    spelt = Counter((fact.text or "", cell(fact.expected)) for fact in facts)
    spellings = [
        f"'{text}' ({count(n_rows, 'row')}) for '{right}'"
        for (text, right), n_rows in sorted(spelt.items(), key=lambda item: (-item[1], item[0]))
    ]
    low, high = (cell(edge, one.unit) for edge in one.typical or (None, None))
    text = FINDINGS[one.kind].format(
        name=one.column,
        rows=count(n, "row"),
        cells=count(n, "cell"),
        values=count(n, "value"),
        s="s" * (n == 1),
        are="is" if n == 1 else "are",
        texts=_list(list(distinct), MAX_QUOTED),
        spellings=_list(spellings, MAX_SPELLINGS),
        in_row=in_row(one),
        first=", the first one" * (n > 1),
        content=one.content,
        value=cell(one.value, 1.0),
        others="dates" if isinstance(one.value, np.datetime64) else "values",
        range=f"{low} to {high}",
        factor=number(one.factor or 1.0),
        size="larger" if one.position is Position.ABOVE else "smaller",
    )
    return f"{text}."


def in_row(fact: Fact, names: Mapping[int, str] | None = None) -> str:
    """Say what is wrong in one row of a finding, given the names of rows by their position."""
    if fact.rule is not None:
        return rule(fact.rule)
    if fact.kind is FactKind.SPELLING:
        return f"{fact.text} for {cell(fact.expected)}"
    if fact.other_row is not None:
        others = f" except for {', '.join(fact.columns)}" if fact.columns else ""
        other = (names or {}).get(fact.other_row, f"row {fact.other_row}")
        return f"equals {other}{others}"
    return fact.text or ""


def column_change(fact: Fact) -> str:
    """Say how a column differs from the training table, without its name."""
    if fact.kind is FactKind.MISSING_CELLS and fact.share == 1:
        return "all cells are missing"
    values = {
        **vars(fact),
        "needs": "needs" if fact.content else "does not need",
        "constant": " in training" * (str(fact.value) == "constant"),
        "now": (now := percent(fact.share)),
        "then": percent(fact.reference_share),
        "cells": "1 cell holds" if fact.n_cells == 1 else f"{fact.n_cells:,} cells ({now}) hold",
        "s": "s" * (fact.n_cells == 1),
    }
    return CHANGES[fact.kind].format(**values)


def _list(texts: Sequence[str], n_most: int) -> str:
    """Return the first texts, separated by commas, and the number of the others."""
    n_more = len(texts) - n_most
    return ", ".join(texts[:n_most]) + (f" and {n_more} more" if n_more > 0 else "")


def advice_text(outcome: Outcome) -> str:
    """Say whether to continue asking, and why."""
    missed, recall = outcome.n_missed, outcome.recall
    start = "Stop" if outcome.should_stop else "Go on"
    if outcome.none_left:
        return f"{start}: no outlier seems to be left below the threshold."
    if outcome.n_labelled_outliers == 0:
        return f"{start}: it is too early to say how many outliers are left."
    share = f"about {recall.value:.0%} of all outliers are found"
    share += f" ({recall.low:.0%} to {recall.high:.0%})"
    if recall.high < 0.01:
        share = "less than 1% of all outliers are found"
    n_missed = f"about {missed.value:,.0f} ({missed.low:,.0f} to {missed.high:,.0f}) are missed"
    return f"{start}: {share}; {n_missed}."
