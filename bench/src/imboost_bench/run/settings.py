"""Settings of a run that differ from the defaults of its detector, strategy and table."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from imboost.errors import SettingError

# Prefixes of the settings of the query strategy and of `Preprocessing`, like scikit-learn's for
# a nested estimator.
QUERY_PREFIX, TABLE_PREFIX = "query__", "table__"

Value = int | float | bool | str | tuple[int | float, ...] | None


@dataclass(frozen=True)
class Settings:
    """Setting names and values, sorted by name.

    Examples
    --------
    >>> settings = Settings.parse(["query__alpha=0.3", "inlier_weight=0"])
    >>> str(settings)
    'inlier_weight=0;query__alpha=0.3'
    >>> settings.of_detector, settings.of_query
    ({'inlier_weight': 0}, {'alpha': 0.3})
    """

    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Settings:
        """Parse settings such as "inlier_weight=0"; the last value of a name counts."""
        values: dict[str, Value] = {}
        for text in texts:
            name, equals, value = (part.strip() for part in text.partition("="))
            if not (name and equals and value):
                raise SettingError(f"A setting is written name=value, got '{text}'.")
            values[name] = _parse_value(value)
        return cls(tuple(sorted(values.items())))

    @classmethod
    def from_line(cls, text: str) -> Settings:
        """Parse the result of `str`."""
        return cls.parse(text.split(";")) if text else cls()

    @property
    def of_detector(self) -> dict[str, Value]:
        """Keyword arguments of the detector."""
        others = (QUERY_PREFIX, TABLE_PREFIX)
        return {name: value for name, value in self.values if not name.startswith(others)}

    @property
    def of_query(self) -> dict[str, Value]:
        """Keyword arguments of the query strategy."""
        return self._with(QUERY_PREFIX)

    @property
    def of_table(self) -> dict[str, Value]:
        """Keyword arguments of `Preprocessing`."""
        return self._with(TABLE_PREFIX)

    def _with(self, prefix: str) -> dict[str, Value]:
        own = {name: value for name, value in self.values if name.startswith(prefix)}
        return {name.removeprefix(prefix): value for name, value in own.items()}

    def __str__(self) -> str:
        return ";".join(f"{name}={value}" for name, value in self.values)


def _parse_value(text: str) -> Value:
    """Parse a number, a tuple of numbers, True, False or None; anything else is a string."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float | bool | tuple | None) else text
