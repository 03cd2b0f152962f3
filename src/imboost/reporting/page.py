"""Pages and texts from the package's templates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from imboost.reporting.table import write


def render(template: str, context: Mapping[str, Any]) -> str:
    """Fill one of the package's templates; version and date are added."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("imboost.reporting"),
        undefined=StrictUndefined,
        autoescape=template.endswith(".html.j2"),
        keep_trailing_newline=True,
    )
    environment.globals.update(
        write=write,
        percent=percent,
        f=lambda value: write(value, "figure"),
        signed=lambda value: write(value, "signed"),
    )
    return environment.get_template(template).render(
        version=version("imboost"), date=datetime.now(UTC).strftime("%Y-%m-%d"), **context
    )


def percent(share: float) -> str:
    """Write a share for a reader.

    >>> percent(1.0), percent(0.021), percent(0.0005), percent(1e-7)
    ('100 %', '2.1 %', '0.05 %', 'under 0.01 %')
    """
    if 0 < share < 0.0001:
        return "under 0.01 %"
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
