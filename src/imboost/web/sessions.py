"""Signed cookies that identify a browser, and the CSRF tokens bound to them."""

from __future__ import annotations

import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace

SESSION_SECONDS = 12 * 3600.0


@dataclass(frozen=True)
class BrowserSession:
    """A browser that was given a cookie.

    Parameters
    ----------
    id : str
        Random identifier, stable as long as the browser keeps the cookie.
    is_logged_in : bool
        Whether the browser has sent the token of the server.
    expires : int
        Unix time at which the cookie expires.
    """

    id: str
    is_logged_in: bool
    expires: int


class SessionSigner:
    """Writes and reads session cookies; only those that it wrote itself are valid.

    Parameters
    ----------
    secret : bytes, optional
        Key of the signatures. Default: random, so that a restart ends all sessions.
    seconds : float
        Lifetime of a cookie.
    clock : callable
        Returns the Unix time.

    Examples
    --------
    >>> signer = SessionSigner()
    >>> session = signer.start()
    >>> signer.read(signer.write(session)) == session
    True
    >>> signer.read(signer.write(session) + "x") is None
    True
    """

    def __init__(
        self,
        secret: bytes | None = None,
        seconds: float = SESSION_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._secret = secret or secrets.token_bytes(32)
        self.seconds = seconds
        self._clock = clock
        self._ended: dict[str, int] = {}  # sessions that logged out, until their cookies expire

    def start(self, *, is_logged_in: bool = False) -> BrowserSession:
        """Return a new session."""
        return BrowserSession(secrets.token_urlsafe(16), is_logged_in, self._end())

    def renew(self, session: BrowserSession) -> BrowserSession:
        """Return the session with a new lifetime if half of it is over, else as it is."""
        is_due = session.expires - self._clock() < self.seconds / 2
        return replace(session, expires=self._end()) if is_due else session

    def end(self, session: BrowserSession) -> None:
        """Accept the cookie of a session no more."""
        now = self._clock()
        self._ended = {one: expires for one, expires in self._ended.items() if expires > now}
        self._ended[session.id] = self._end()

    def write(self, session: BrowserSession) -> str:
        """Return the value of a session's cookie."""
        payload = f"{session.id}.{int(session.is_logged_in)}.{session.expires}"
        return f"{payload}.{self._sign('session', payload)}"

    def read(self, value: str) -> BrowserSession | None:
        """Return the session of a cookie, or None if it is forged or expired."""
        payload, _, signature = value.rpartition(".")
        if not _equal(signature, self._sign("session", payload)):
            return None
        identifier, is_logged_in, expires = payload.split(".")
        session = BrowserSession(identifier, is_logged_in == "1", int(expires))
        is_over = session.expires <= self._clock() or session.id in self._ended
        return None if is_over else session

    def csrf_token(self, session: BrowserSession) -> str:
        """Return the CSRF token of a session."""
        return self._sign("csrf", session.id)

    def is_csrf_token(self, token: str, session: BrowserSession) -> bool:
        """Whether a token is the CSRF token of a session."""
        return _equal(token, self.csrf_token(session))

    def _end(self) -> int:
        return int(self._clock() + self.seconds)

    def _sign(self, purpose: str, text: str) -> str:
        message = f"{purpose}:{text}".encode("utf-8", "replace")
        return urlsafe_b64encode(hmac.digest(self._secret, message, "sha256")).decode()


def _equal(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())
