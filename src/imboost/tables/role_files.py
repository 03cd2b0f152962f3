"""Roles of columns in a file that people edit."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from imboost.errors import DataError, SettingError, UnknownNameError
from imboost.present.formatting import printable
from imboost.tables.roles import Role
from imboost.tables.schema import Schema


def read_roles(path: Path | str) -> dict[str, str]:
    """Return the roles in a file, by column; columns that it does not name are inferred.

    Parameters
    ----------
    path : path
        A TOML file with a table ``[roles]``, as `write_roles` writes it, or a JSON file with one
        object, whose name ends with ``.json``.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except FileNotFoundError:
        raise DataError(f"{path} does not exist.") from None
    except (OSError, ValueError) as error:  # decoding errors of both formats are ValueErrors
        reason = str(error).partition("\n")[0]
        raise DataError(f"The roles in {path} could not be read: {reason}.") from None
    roles = content.get("roles", content) if isinstance(content, dict) else content
    if not isinstance(roles, dict):
        raise DataError(f"{path} should hold a table of roles by column, such as zip = 'text'.")
    for name, role in roles.items():
        if not isinstance(role, str):
            raise SettingError(f"The role of '{name}' in {path} should be a word, got {role!r}.")
        if role not in list(Role):
            raise UnknownNameError("role", role, list(Role))
    return roles


def roles_as_toml(schema: Schema) -> str:
    r"""Return the roles of all columns as TOML, with their notes as comments.

    >>> import pyarrow as pa
    >>> print(roles_as_toml(Schema.fit(pa.table({"size": [1.5, 2.5], "": ["a", "b"]}))))
    # The role of each column: numeric, categorical, boolean, datetime, identifier, constant, text
    or ignored.
    # Roles of columns that are left out are inferred.
    [roles]
    "size" = "numeric"
    "" = "categorical"
    """
    lines = [
        f"# The role of each column: {', '.join(list(Role)[:-1])} or {Role.IGNORED}.",
        "# Roles of columns that are left out are inferred.",
        "[roles]",
    ]
    for column in schema:
        note = f"  # {printable(column.note)}" if column.note else ""
        key = json.dumps(column.name, ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f'{key} = "{column.role}"{note}')
    return "\n".join(lines) + "\n"


def write_roles(path: Path | str, schema: Schema) -> None:
    """Write the roles of all columns to a TOML file."""
    Path(path).write_text(roles_as_toml(schema), encoding="utf-8")
