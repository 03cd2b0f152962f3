"""Pages of the labelling page from its templates; every value from the data is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from imboost.reporting.formatting import count, percent


def render(template: str, context: Mapping[str, Any]) -> str:
    """Render a template, such as "question.html.j2" or "fragments/panel.html.j2"."""
    return environment().get_template(template).render(context)


@cache
def environment() -> Environment:
    """Return the environment of the templates, in which a missing name is an error."""
    environment = Environment(
        loader=PackageLoader("imboost.labelling"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # a running program keeps the templates that fit its code
    )
    environment.globals.update(count=count)
    environment.filters.update(
        duration=duration, number="{:,}".format, percent=percent, score=format_score
    )
    return environment


def format_score(score: float) -> str:
    """Write a score with few digits.

    >>> [format_score(score) for score in (0.12345, -7.0, 12345.6)]
    ['0.123', '-7.000', '12,346']
    """
    return f"{score:.3f}" if abs(score) < 1000 else f"{score:,.0f}"


def duration(seconds: float) -> str:
    """Write an estimated time in words.

    >>> [duration(seconds) for seconds in (0.2, 12.7, 100, 4000)]
    ['a moment', 'about 13 seconds', 'about 2 minutes', 'about 1 hour']
    """
    if seconds < 2:
        return "a moment"
    if seconds < 90:
        return f"about {count(round(seconds), 'second')}"
    if seconds < 3600:
        return f"about {count(round(seconds / 60), 'minute')}"
    return f"about {count(round(seconds / 3600), 'hour')}"
