"""Sentences about facts: reasons of a score, broken rules, findings and changed columns.

This is the only module that makes them, and nothing parses them back.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

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
from imboost.present.formatting import count, percent, rounded, shorten

RARE = 0.01  # smaller shares are written "1 of N reference rows"
MAX_QUOTED = 3  # values in a message
MAX_SPELLINGS = 5  # spellings in a message
AS_A_WHOLE = "Unusual as a whole: no single column explains the score."
SUM = (
    "The baseline is the score of a typical row, the residual is the part that no column "
    "explains; with all contributions they sum to the score."
)
UNITS = {
    2.2046: "kilograms and pounds",
    2.54: "inches and centimetres",
    3.2808: "feet and metres",
    10.0: "a decimal place",
    12.0: "months and years",
    25.4: "inches and millimetres",
    60.0: "minutes and hours",
    100.0: "cents or percent",
    1000.0: "thousands",
    3600.0: "seconds and hours",
    1e6: "millions",
}
"""What a factor between two units may mean."""

POSITIONS = {
    Position.LATER: "later in the day than {rows}",
    Position.EARLIER: "earlier in the day than {rows}",
    Position.SAME: "as in all reference rows",
    Position.AMONG: "in {rows}",
    Position.MISSING: "missing in {rows}",
    Position.NO_VALUES: "no reference row has a value",
}
"""Positions that are not above or below."""

FINDINGS = {
    FactKind.DUPLICATE: ("row", "repeat", "an earlier row in every column"),
    FactKind.NEAR_DUPLICATE: ("row", "repeat", "an earlier row in all but one or two columns"),
    FactKind.REPEATED_ID: ("row", "repeat", "an earlier value of {name}"),
    FactKind.IMPOSSIBLE_DATE: ("cell", "are", "no possible date or time: {texts}"),
    FactKind.FUTURE_DATE: ("value", "are", "in the future: {texts}"),
    FactKind.FAR_DATE: ("value", "are", "far from all others: {texts}"),
    FactKind.UNREADABLE: ("cell", "hold", "no {content}: {texts}"),
}
"""Sentences about the rows or cells of a finding: what is counted, the verb, and the rest."""


def cell(value: Cell, unit: float | None = None) -> str:
    """Write the value of a cell; numbers have four digits, or the decimals of `unit`.

    >>> cell(52962.7), cell(0.012345), cell(12.5, 0.01), cell(np.datetime64("2024-01-02T00:00"))
    ('52960', '0.01235', '12.50', '2024-01-02 00:00')
    """
    if value is None:
        return ""
    if isinstance(value, RareCategories):
        return f"(a category seen at most {value.at_most:,} times)"
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M")
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ").removesuffix(" 00:00:00")
    if isinstance(value, str):
        return value
    if unit is not None:
        return rounded(value, unit)
    digits = float(f"{value:.4g}")
    return f"{digits:.0f}" if 1e4 <= abs(digits) < 1e15 else f"{digits:.4g}"


def reference_rows(share: float) -> str:
    """Write a share of the reference rows.

    >>> [reference_rows(share) for share in (0.0, 0.002, 0.5, 1.0)]
    ['no reference row', '1 of 500 reference rows', '50% of reference rows', 'all reference rows']
    """
    if share in (0.0, 1.0):
        return "all reference rows" if share else "no reference row"
    if share < RARE:
        return f"1 of {1 / share:,.0f} reference rows"
    return f"{percent(share)} of reference rows"


def position(fact: Fact) -> str:
    """Say which rule a cell breaks or, if none, where its value lies.

    >>> position(Fact(kind=FactKind.VALUE, columns=("a",), position=Position.ABOVE, share=0.9))
    'above 90% of reference rows'
    """
    if fact.rule is not None:
        return rule(fact.rule)
    if fact.kind is FactKind.NEAR_DUPLICATE:
        return "another row is the same, or differs in one cell"
    if fact.position is None:
        return ""
    rows = reference_rows(fact.share)
    return POSITIONS.get(fact.position, f"{fact.position} {{rows}}").format(rows=rows)


def short_position(fact: Fact) -> str:
    """Return `position` for a table whose heading says "reference rows".

    >>> fact = Fact(kind=FactKind.VALUE, columns=("a",), position=Position.AMONG, share=0.02)
    >>> short_position(fact)
    'in 2%'
    """
    text = position(fact)
    if fact.rule is not None:
        return text
    if text == "in no reference row":
        return "in none"
    return text.removesuffix(" reference rows").removesuffix(" of")


def rule(broken: BrokenRule) -> str:
    """Say which rule a row breaks, with the row's values."""
    name, cells = broken.columns[0], [cell(one, broken.unit) for one in broken.cells]
    match broken.kind:
        case RuleKind.ORDER if isinstance(broken.cells[0], np.datetime64):
            return f"{broken.columns[1]} ({cells[1]}) should not be before {name} ({cells[0]})"
        case RuleKind.ORDER:
            return f"{name} ({cells[0]}) should be at most {broken.columns[1]} ({cells[1]})"
        case RuleKind.FORMAT:
            return f"{rule_title(broken)}, but is '{cells[0]}'"
        case RuleKind.SPELLING:
            return rule_title(broken)
    expected = "unknown" if broken.expected is None else cell(broken.expected, broken.unit)
    if broken.kind is RuleKind.DEPENDENCY:
        pairs = zip(broken.columns[1:], broken.cells[1:], strict=True)
        given = " and ".join(f"{name} {_exact(value)}" for name, value in pairs)
        return f"{name} should be {expected}, as in other rows with {given}"
    is_copy = broken.formula == expected
    return rule_title(broken) + ("" if is_copy else f" = {expected}")


def rule_title(broken: BrokenRule) -> str:
    """Say which rule a row breaks, without the row's values where the rule is the same for all."""
    name = broken.columns[0]
    match broken.kind:
        case RuleKind.ORDER if isinstance(broken.cells[0], np.datetime64):
            return f"{broken.columns[1]} should not be before {name}"
        case RuleKind.ORDER:
            return f"{name} should be at most {broken.columns[1]}"
        case RuleKind.FORMAT:
            return f"{name} should look like '{broken.formula}'"
        case RuleKind.SPELLING:
            return f"{name} {cell(broken.cells[0])} is probably {cell(broken.expected)}"
        case RuleKind.DEPENDENCY:
            return f"{name} does not fit other columns"
    return f"{name} should be {broken.formula}"


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


def warning(facts: Sequence[Fact], residual: float) -> str:
    """Warn if the residual of a predicted outlier is larger than all contributions together."""
    if residual <= sum(max(fact.contribution, 0.0) for fact in facts):
        return ""
    return (
        "Most of the score is not attributed to any column: the row is unusual as a whole, and "
        "the contributions explain little."
    )


def group(fact: Fact | None, grouped_by: GroupedBy) -> str:
    """Return the title of a group of rows, given the strongest reason of one of them."""
    if fact is None:
        return "unusual as a whole, not in a single column"
    match grouped_by:
        case GroupedBy.ROW:
            return "repeats another row"
        case GroupedBy.RULE if fact.rule is not None:
            return rule_title(fact.rule)
        case GroupedBy.VALUE:
            return f"{fact.column} {shorten(fact.text or 'missing')}"
    side = "unusual" if grouped_by is GroupedBy.COLUMN else str(grouped_by)
    return f"{fact.column} {side}, with different values"


def reason_fields(fact: Fact) -> dict[str, Any]:
    """Return a reason as JSON of explanations has it."""
    return {
        "kind": str(fact.kind),
        "column": fact.column,
        "value": fact.text,
        "contribution": fact.contribution,
        "tolerance": fact.tolerance,
        "expected": cell(fact.expected),
        "reference_fraction": fact.reference_fraction,
        "position": position(fact),
    }


def finding(facts: Sequence[Fact]) -> str:
    """Say in one sentence what is wrong with the rows of a finding, or with a column."""
    one, n = facts[0], len(facts)
    name = one.column
    if one.kind in FINDINGS:
        noun, verb, rest = FINDINGS[one.kind]
        texts = _quote([fact.text or "" for fact in facts])
        start = _count(n, noun, verb, "" if noun == "row" else name)
        return f"{start} {rest.format(name=name, content=one.content, texts=texts)}."
    match one.kind:
        case FactKind.RULE:
            first = ", the first one" * (n > 1)
            return f"{_count(n, 'row', 'break')} a rule of the other rows{first}: {in_row(one)}."
        case FactKind.SPACES:
            s = "s" * (n == 1)
            return f"{count(n, 'cell')} of {name} begin{s} or end{s} with a space."
        case FactKind.SPELLING:
            return _spellings(facts)
        case FactKind.SENTINEL:
            others = "dates" if isinstance(one.value, np.datetime64) else "values"
            return (
                f"{name} is {cell(one.value, 1.0)} in {count(n, 'row')}, apart from the other "
                f"{others} (mostly {_range(one)}): it may stand for a missing value."
            )
        case FactKind.UNIT:
            size = "larger" if one.position is Position.ABOVE else "smaller"
            return (
                f"{_count(n, 'value', 'are', name)} about {one.factor:g} times {size} than the "
                f"others ({_range(one)}): units may be mixed ({UNITS[one.factor or 1.0]})."
            )
    return f"{name}: {column_change(one)}."


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
    now, then = percent(fact.share), percent(fact.reference_fraction)
    cells = "1 cell holds" if fact.n_cells == 1 else f"{fact.n_cells:,} cells ({now}) hold"
    match fact.kind:
        case FactKind.ABSENT_COLUMN:
            return (
                f"not in this table; the model {'needs' if fact.content else 'does not need'} it"
            )
        case FactKind.NEW_COLUMN:
            return "not in the training table"
        case FactKind.UNUSED_COLUMN:
            return f"not used: {fact.value}{' in training' * (fact.value == 'constant')}"
        case FactKind.CHANGED_ROLE:
            return f"looks {fact.value}, {fact.expected} in training"
        case FactKind.MISSING_CELLS if fact.share == 1:
            return "all cells are missing"
        case FactKind.MISSING_CELLS:
            return f"{now} of cells are missing, {then} in training"
        case FactKind.UNREADABLE_CELLS:
            return f"{cells} no {fact.content} and count{'s' * (fact.n_cells == 1)} as missing"
    return f"{cells} a value not seen in training"


def _spellings(facts: Sequence[Fact]) -> str:
    counts = Counter((fact.text or "", cell(fact.expected)) for fact in facts)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"'{text}' ({count(n, 'row')}) for '{right}'" for (text, right), n in ordered]
    shown, n_more = ", ".join(parts[:MAX_SPELLINGS]), len(parts) - MAX_SPELLINGS
    more = f" and {n_more} more" if n_more > 0 else ""
    return f"{facts[0].column} has other spellings of the same value: {shown}{more}."


def _count(n: int, noun: str, verb: str, column: str = "") -> str:
    """Begin a sentence about rows or cells.

    >>> _count(1, "cell", "hold", "age"), _count(2, "row", "repeat")
    ('1 cell of age holds', '2 rows repeat')
    """
    singular = "is" if verb == "are" else f"{verb}s"
    of = f" of {column}" if column else ""
    return f"{count(n, noun)}{of} {singular if n == 1 else verb}"


def _quote(texts: Sequence[str]) -> str:
    """Return the first different texts in quotation marks.

    >>> _quote(["a", "b", "a", "c", "d"])
    "'a', 'b', 'c' and 1 more"
    """
    distinct = list(dict.fromkeys(texts))
    shown = ", ".join(f"'{text}'" for text in distinct[:MAX_QUOTED])
    n_more = len(distinct) - MAX_QUOTED
    return f"{shown} and {n_more} more" if n_more > 0 else shown


def _exact(value: Cell) -> str:
    return f"{value:.15g}" if isinstance(value, float) else cell(value)


def _range(fact: Fact) -> str:
    low, high = (cell(edge, fact.unit) for edge in fact.typical or (None, None))
    return f"{low} to {high}"


def advice_text(outcome: Outcome) -> str:
    """Say whether to continue asking, and why.

    >>> from imboost.decide import Estimate, Outcome
    >>> missed = Estimate(4.0, 1.0, 9.0)
    >>> outcome = Outcome(900, 60, 20, Estimate(0.9, 0.8, 1.0), missed, Estimate(0.93, 0.87, 0.98))
    >>> advice_text(outcome)
    'Stop: about 93% of all outliers are found (87% to 98%); about 4 (1 to 9) are missed.'
    """
    missed, recall = outcome.n_missed, outcome.recall
    start = "Stop" if outcome.should_stop else "Go on"
    if outcome.none_left:
        return f"{start}: no outlier seems to be left below the threshold."
    if outcome.n_labelled_outliers == 0:
        return f"{start}: it is too early to say how many outliers are left."
    known = f"about {recall.value:.0%} of all outliers are found"
    known += f" ({recall.low:.0%} to {recall.high:.0%})"
    if recall.high < 0.01:
        known = "less than 1% of all outliers are found"
    n_missed = f"about {missed.value:,.0f} ({missed.low:,.0f} to {missed.high:,.0f}) are missed"
    return f"{start}: {known}; {n_missed}."
