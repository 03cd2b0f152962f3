"""Pages and texts from the package's templates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any


def render(template: str, context: Mapping[str, Any]) -> str:
    """Fill one of the package's templates; version and date are added."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("imboost.reporting"),
        undefined=StrictUndefined,
        autoescape=template.endswith(".html.j2"),
        keep_trailing_newline=True,
    )
    environment.globals.update(f=_figure, signed=_signed)
    return environment.get_template(template).render(
        version=version("imboost"), date=datetime.now(UTC).strftime("%Y-%m-%d"), **context
    )


def _figure(value: float | None) -> str:
    """Write a number to three places, and a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:.3f}"


def _signed(value: float | None) -> str:
    """Write a difference with its sign."""
    return "–" if value is None or math.isnan(value) else f"{value:+.3f}"
