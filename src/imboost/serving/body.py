"""The body of a request, parsed row by row.

The JSON parsers of Python and pydantic hold the interpreter lock until the whole document is
parsed, so that not even another thread could respond. Here they parse one row at a time. Limits
are checked before more is parsed, and memory is bounded by the size of the window and the rows.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from typing import Any

from pydantic import BaseModel, ValidationError

from imboost.errors import IMBoostError
from imboost.serving.schemas import RowModel
from imboost.web.workers import Deadline

WINDOW_BYTES = 256 * 1024  # decoded at a time
MAX_ROW_LENGTH = 1024 * 1024  # characters of a row
MAX_UNKNOWN_COLUMNS = 10  # in one row, beyond the number of columns of the training table
MAX_ERRORS = 3  # listed in a response
MAX_NAME_LENGTH = 50  # characters of a client's column name repeated in a response

NOT_JSON = "The body is not JSON"
DECODER = json.JSONDecoder()


class RequestError(IMBoostError):
    """A body that is not JSON or does not match the columns of the training table."""


def read_rows(model: RowModel, n_rows: int, body: bytes, deadline: Deadline) -> list[BaseModel]:
    """Return the rows of a body `{"rows": [...]}`.

    Parameters
    ----------
    model : RowModel
    n_rows : int
        Maximum number of rows.
    body : bytes
    deadline : Deadline

    Raises
    ------
    RequestError
        If the body is not JSON, has too many rows, or a row does not match the model.
    """
    rows: list[BaseModel] = []
    errors: list[str] = []
    try:
        for at, cells in enumerate(_parse(body)):
            deadline.check()
            if at >= n_rows:
                raise RequestError(f"body rows: List should have at most {n_rows} items")
            try:
                rows.append(model.validate(_check_columns(at, cells, model)))
            except ValidationError as error:
                errors += [_describe(at, one) for one in error.errors(include_url=False)]
            if len(errors) > MAX_ERRORS:
                raise RequestError("; ".join([*errors[:MAX_ERRORS], "and more errors"]))
    except (RecursionError, UnicodeDecodeError):
        raise RequestError(NOT_JSON) from None
    if errors:
        raise RequestError("; ".join(errors))
    if not rows:
        raise RequestError("body rows: List should have at least 1 item")
    return rows


def _parse(body: bytes) -> Iterator[Any]:
    """Parse the rows of a body, one after the other."""
    window = _Window(body)
    window.skip("{", "body: Input should be an object with the field 'rows'")
    if window.peek() == "}":
        raise RequestError("body rows: Field required")
    name = window.value()
    if name != "rows":
        raise RequestError(f"body {str(name)[:MAX_NAME_LENGTH]}: Extra inputs are not permitted")
    window.skip(":")
    window.skip("[", "body rows: Input should be a valid list")
    if window.peek() == "]":
        window.skip("]")
    else:
        yield window.value()
        while window.peek() == ",":
            window.skip(",")
            yield window.value()
        window.skip("]")
    if window.peek() == ",":
        raise RequestError("body: Extra inputs are not permitted beside 'rows'")
    window.skip("}")
    if window.peek():
        raise RequestError(NOT_JSON)


class _Window:
    """The part of a body that is decoded and not yet parsed."""

    def __init__(self, body: bytes) -> None:
        self._body = memoryview(body)
        decoder = codecs.getincrementaldecoder(json.detect_encoding(body))
        self._decoder = decoder("surrogatepass")
        self._n_decoded = 0
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            self._at = WHITESPACE.match(self._text, self._at).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._decode_more():
                return ""

    def skip(self, character: str, otherwise: str = NOT_JSON) -> None:
        """Skip the next character; raise if it is another one."""
        if self.peek() != character:
            raise RequestError(otherwise if self.peek() else NOT_JSON)
        self._at += 1

    def value(self) -> Any:
        """Parse an object or a string, which end with a character of their own."""
        if self.peek() not in ("{", '"'):
            raise RequestError("body rows: Each row should be an object")
        while True:
            try:
                value, self._at = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                n_left = len(self._text) - self._at
                if n_left > MAX_ROW_LENGTH:
                    raise RequestError(
                        f"{NOT_JSON}, or a row has more than {MAX_ROW_LENGTH:,} characters"
                    ) from None
                # More of the text in growing steps, since each attempt starts again.
                if not self._decode_more(n_left):
                    raise RequestError(NOT_JSON) from None
            except ValueError:
                raise RequestError(f"{NOT_JSON}: an integer has too many digits") from None
            else:
                return value

    def _decode_more(self, n_bytes: int = 0) -> bool:
        """Decode the next bytes, at least a window; return whether there were any."""
        part = self._body[self._n_decoded :][: max(WINDOW_BYTES, n_bytes)]
        self._n_decoded += len(part)
        is_end = self._n_decoded == len(self._body)
        decoded = self._decoder.decode(bytes(part), is_end)
        self._text, self._at = self._text[self._at :] + decoded, 0
        return len(part) > 0


def _check_columns(at: int, cells: Any, model: RowModel) -> Mapping[str, Any]:
    if not isinstance(cells, dict):
        raise RequestError(f"row {at}: Input should be an object")
    if len(cells) > model.n_columns + MAX_UNKNOWN_COLUMNS:
        raise RequestError(
            f"row {at} has {len(cells):,} columns; the training table had {model.n_columns:,}"
        )
    return cells


def _describe(at: int, error: Mapping[str, Any]) -> str:
    """Describe a validation error by its row and column, without repeating its value."""
    row, kind = f"row {at}", error["type"]
    if not error["loc"]:
        return f"{row}: {error['msg']}"
    column = f"column '{str(error['loc'][0])[:MAX_NAME_LENGTH]}'"
    if kind == "missing":
        return f"{row} lacks the {column}"
    if kind == "extra_forbidden":
        return f"{row} has the {column}, which the training table did not have"
    return f"{row}, {column}: {error['msg'].removeprefix('Value error, ')}"
