"""Roles are written to a file, edited and read back."""

import pyarrow as pa
import pytest

from imboost.errors import IMBoostError
from imboost.tables.roles import read_roles, write_roles
from imboost.tables.schema import Schema

TABLE = pa.table(
    {
        "size": [1.5, 2.5, 3.5],
        'a "b" \\ = # c': ["x", "y", "x"],
        "": [1, 2, 3],
        "größe\n\x7f\U0001f600": ["a", "b", "NA"],
    }
)


def test_written_roles_are_read_back(tmp_path):
    schema = Schema.fit(TABLE)
    write_roles(tmp_path / "roles.toml", schema)
    roles = read_roles(tmp_path / "roles.toml")
    assert roles == {column.name: column.role for column in schema}
    assert Schema.fit(TABLE, roles) == schema


def test_an_edited_role_is_used(tmp_path):
    write_roles(tmp_path / "roles.toml", Schema.fit(TABLE))
    text = (tmp_path / "roles.toml").read_text(encoding="utf-8")
    edited = text.replace('"size" = "numeric"', '"size" = "categorical"')
    (tmp_path / "roles.toml").write_text(edited, encoding="utf-8")
    schema = Schema.fit(TABLE, read_roles(tmp_path / "roles.toml"))
    assert schema.columns[0].role == "categorical"


def test_roles_may_be_json(tmp_path):
    (tmp_path / "roles.json").write_text('{"size": "ignored"}')
    assert read_roles(tmp_path / "roles.json") == {"size": "ignored"}


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("roles.toml", "size = ", "could not be read: Invalid value"),
        ("roles.json", "{", "could not be read: Expecting"),
        ("roles.json", "[]", "should hold a table of roles"),
        ("roles.toml", "[roles]\nsize = 5", "The role of 'size' .* should be a word, got 5"),
        ("roles.toml", "[roles]\nsize = 'numeral'", "Unknown role 'numeral'. Did you mean"),
    ],
)
def test_a_wrong_file_is_refused(name, text, error, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(IMBoostError, match=error):
        read_roles(tmp_path / name)


def test_a_missing_file_and_text_in_another_encoding_are_refused(tmp_path):
    with pytest.raises(IMBoostError, match="does not exist"):
        read_roles(tmp_path / "roles.toml")
    (tmp_path / "roles.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(IMBoostError, match="could not be read"):
        read_roles(tmp_path / "roles.toml")
