"""Percentages are written by one function, in one style."""

import re
from pathlib import Path

import imboost

PACKAGE = Path(imboost.__file__).parent
OWN_FORMAT = re.compile(r":\.?\d*%\}|\d %(?!\})|%%")
EXCEPTIONS = {
    "tables/number_parser.py",  # parses percentages
    "decide/stopping.py",  # may not import imboost.reporting
    "detectors/distilled/agreement.py",  # may not import imboost.reporting either
    "session/database.py",  # escapes a percent sign for alembic
}


def test_other_formats_are_recognised():
    assert all(OWN_FORMAT.search(text) for text in ("f'{share:.0%}'", "'90 % of'", "'%.1f %%'"))
    assert not OWN_FORMAT.search("{% if n > 1 %}40%{% endif %}")


def test_percentages_are_formatted_by_percent():
    files = {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for pattern in ("**/*.py", "**/*.j2")
        for path in PACKAGE.glob(pattern)
    }
    found = {name for name, text in files.items() if OWN_FORMAT.search(text)}
    assert found == EXCEPTIONS
