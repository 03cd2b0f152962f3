"""The comparison of a token that a client sent with that of the server."""

from __future__ import annotations

import asyncio
from hmac import compare_digest

WRONG_TOKEN_SECONDS = 0.5  # before a wrong token is refused


async def is_token(given: bytes, token: str) -> bool:
    """Return whether a token is right; a wrong one takes longer."""
    if compare_digest(given, token.encode()):
        return True
    await asyncio.sleep(WRONG_TOKEN_SECONDS)
    return False
