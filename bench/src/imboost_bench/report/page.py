"""Pages and Markdown of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from imboost.present import pages
from imboost.present.formatting import count
from imboost_bench.report.formatting import format_value


def render(template: str, context: Mapping[str, Any]) -> str:
    """Render a template of the benchmark."""
    helpers = {"format_value": format_value, "count": count}
    return pages.render(template, helpers | dict(context), package="imboost_bench.report")
