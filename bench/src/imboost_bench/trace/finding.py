"""What a trace says about a claim of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NO_UPDATE = "no such update"  # figures of a claim about models that the run does not have


class ClaimStatus(StrEnum):
    """Whether a claim held."""

    HELD = "held"
    PARTLY = "held in part"
    FAILED = "did not hold"
    UNDECIDED = "cannot be judged"
    PROVED = "proved"


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, its outcome, its main numbers, and all numbers in sentences.

    `losses` is the scale of the losses, "" if it makes no difference.
    """

    source: str
    claim: str
    outcome: ClaimStatus
    figures: str
    details: str
    losses: str = ""


def grade(one: bool, other: bool) -> ClaimStatus:
    """Return whether both of two conditions hold, one or none."""
    if one and other:
        return ClaimStatus.HELD
    return ClaimStatus.PARTLY if one or other else ClaimStatus.FAILED


def describe_change(start: float, end: float) -> str:
    """Describe a change in words, such as "fell from 3 to 2"."""
    if start == end:
        return f"stayed at {number(start)}"
    return f"{direction(start, end)} from {number(start)} to {number(end)}"


def direction(start: float, end: float) -> str:
    """Return "fell", "rose" or "stayed"."""
    return "fell" if end < start else "rose" if end > start else "stayed"


def change(start: float, end: float) -> str:
    """Describe a change in signs, such as "3 → 2"."""
    return f"{number(start)} → {number(end)}"


def number(value: float) -> str:
    """Format with about three digits.

    >>> number(-1234.5), number(0.01234), number(float("inf"))
    ('−1,234', '0.0123', '∞')
    """
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "−").replace("inf", "∞")
