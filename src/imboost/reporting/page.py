"""Pages and Markdown from the package's templates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from imboost.reporting.formatting import count, format_value, percent


def render(template: str, context: Mapping[str, Any]) -> str:
    """Render a template; version and date are added to the context."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("imboost.reporting"),
        undefined=StrictUndefined,
        autoescape=template.endswith(".html.j2"),
        keep_trailing_newline=True,
    )
    environment.globals.update(
        format_value=format_value,
        count=count,
        percent=percent,
        f=lambda value: format_value(value, "figure"),
        signed=lambda value: format_value(value, "signed"),
    )
    return environment.get_template(template).render(
        version=version("imboost"), date=datetime.now(UTC).strftime("%Y-%m-%d"), **context
    )
