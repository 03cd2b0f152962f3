"""How a table is read from a file, where the file does not say it itself."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from imboost.errors import SettingError


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a table; each applies to some formats.

    Parameters
    ----------
    encoding : str, optional
        Encoding of CSV and JSON files, such as "cp1252". Default: UTF-8.
    has_header : bool, optional
        Whether the first line of a CSV file or sheet holds the column names. Default: it does,
        and a line that looks like a row is refused.
    sheet : str, optional
        Sheet of an Excel file. Default: the first one.
    sql : str, optional
        Table of a database file, or a query. Default: the only table of the file.
    """

    encoding: str | None = None
    has_header: bool | None = None
    sheet: str | None = None
    sql: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is None:
            return
        try:
            "".encode(self.encoding)  # also refuses codecs that do not decode to text
            codecs.getincrementaldecoder(self.encoding)
        except (LookupError, ValueError):
            raise SettingError(
                f"The encoding '{self.encoding}' is not known: use a name such as cp1252, "
                "iso-8859-15 or utf-16."
            ) from None

    @property
    def text_encoding(self) -> str:
        """The encoding in which text is decoded; a byte order mark is left out."""
        is_utf8 = codecs.lookup(self.encoding or "utf-8").name == "utf-8"
        return "utf-8-sig" if is_utf8 else str(self.encoding)

    @property
    def given(self) -> list[str]:
        """The names of the options that were given."""
        return [name for name, value in vars(self).items() if value is not None]
