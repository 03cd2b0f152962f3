"""Every page of the package is rendered here, in one Jinja environment.

A template extends `base.html.j2` for a page in a single file, or `app.html.j2` for a page of the
labelling server. Both have the colours of `static/theme.css`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from imboost.errors import require
from imboost.present.formatting import count, duration, number, percent, shorten

if TYPE_CHECKING:
    from jinja2 import Environment

HELPERS = (count, duration, number, percent, shorten)


def render(template: str, context: Mapping[str, Any], package: str = "imboost.present") -> str:
    """Render a template of a package's folder `templates`, which may extend those of this package.

    Text is escaped if its name ends with ".html.j2". A name that it needs and that is missing is
    an error; `version`, `date` and the functions of `imboost.present.formatting` are known.
    """
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    return environment(package).get_template(template).render({"date": today, **context})


@cache
def environment(package: str = "imboost.present") -> Environment:
    """Return the environment of the templates of a package."""
    require("An HTML page", "report", "jinja2")
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape

    from imboost.present import wording

    here = "imboost.present"
    folders = dict.fromkeys([(package, "templates"), (here, "templates"), (here, "static")])
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(*folder) for folder in folders]),
        undefined=StrictUndefined,
        autoescape=select_autoescape(["html.j2"]),
        keep_trailing_newline=True,
        lstrip_blocks=True,
        auto_reload=False,  # a running program keeps the templates that fit its code
    )
    functions: dict[str, Any] = {helper.__name__: helper for helper in HELPERS}
    environment.globals.update(functions, version=version("imboost"), wording=wording)
    environment.filters.update(functions)
    return environment
