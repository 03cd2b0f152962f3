"""Forms, read before the application sees the request."""

from __future__ import annotations

import re
from collections import deque
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

MAX_FORM_BYTES = 1024 * 1024
MAX_FORM_FIELDS = 10_000
FORM_TYPE = "application/x-www-form-urlencoded"
UPLOAD_TYPE = "multipart/form-data"
LEADING_BYTES = 8 * 1024  # of an upload, in which fields before its file are looked for


async def read_form(request: Request, receive: Receive) -> Receive:
    """Parse the form of a request for `form_fields`; other bodies are left alone.

    Only the fields before the file of an upload are parsed; they are enough for a CSRF token.

    Returns
    -------
    receive : callable
        Gives the application the body that was read.
    """
    request.scope.setdefault("state", {})["form"] = {}
    header = request.headers.get("Content-Type", "")
    kind = header.partition(";")[0].strip().lower()
    if kind == UPLOAD_TYPE:
        return await _read_upload(request, receive, header)
    if kind != FORM_TYPE:
        return receive
    body, has_more = b"", True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        body += message.get("body", b"")
        has_more = message.get("more_body", False)
        if len(body) > MAX_FORM_BYTES:
            raise HTTPException(413, f"A form may have at most {MAX_FORM_BYTES:,} bytes.")
    request.scope["state"]["form"] = _parse(body)
    is_read = False

    async def receive_again() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


async def _read_upload(request: Request, receive: Receive, header: str) -> Receive:
    """Parse the fields at the beginning of an upload."""
    messages, start = deque[Message](), b""
    while len(start) < LEADING_BYTES:
        messages.append(await receive())
        start += messages[-1].get("body", b"")
        if not messages[-1].get("more_body", False):
            break
    request.scope["state"]["form"] = _leading_fields(start[:LEADING_BYTES], header)

    async def receive_again() -> Message:
        return messages.popleft() if messages else await receive()

    return receive_again


def _leading_fields(start: bytes, header: str) -> dict[str, list[str]]:
    """Return the complete fields at the start of a multipart body, without its files."""
    boundary = re.search(r'boundary="?([^";]+)', header)
    fields: dict[str, list[str]] = {}
    if boundary is None:
        return fields
    parts = start.split(b"--" + boundary[1].encode("latin-1"))
    for part in parts[1:-1]:  # the last one may be cut
        head, _, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'[; ]name="([^"]*)"', head)
        if name is not None and b"filename" not in head:
            text = value.removesuffix(b"\r\n").decode(errors="replace")
            fields.setdefault(name[1].decode(errors="replace"), []).append(text)
    return fields


def form_fields(request: Request) -> dict[str, list[str]]:
    """Return the fields of the form that a request sent; empty if it sent none."""
    fields: dict[str, list[str]] = request.scope.get("state", {}).get("form", {})
    return fields


def _parse(body: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_FORM_FIELDS,
        )
    except ValueError:
        raise HTTPException(400, "The body is not a valid urlencoded form.") from None
