"""A wrong token is refused, and takes longer than a right one."""

import asyncio
from types import SimpleNamespace

import pytest

from imboost.web import guard


@pytest.mark.parametrize("given", [b"", b"x", b"secre", b"secret ", "sécret".encode()])
def test_a_wrong_token_is_refused_after_a_wait(given, monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(guard, "asyncio", SimpleNamespace(sleep=sleep))
    assert not asyncio.run(guard.is_token(given, "secret"))
    assert waits == [guard.WRONG_TOKEN_SECONDS]
    assert asyncio.run(guard.is_token("sésame".encode(), "sésame"))
    assert len(waits) == 1
