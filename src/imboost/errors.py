"""The exceptions of the package; all of them are ValueErrors."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib.util import find_spec


class IMBoostError(ValueError):
    r"""A user's mistake; the message is one line and names the remedy.

    >>> print(IMBoostError("Column 'a\nb' is missing."))
    Column 'a b' is missing.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))  # names of columns may have line breaks


class UnknownNameError(IMBoostError):
    """A detector, query strategy, backbone or data set that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = {spelling.lower(): spelling for spelling in names}
        close = get_close_matches(name.lower(), near, n=1, cutoff=0.5)
        hint = f" Did you mean '{near[close[0]]}'?" if close else ""
        super().__init__(f"Unknown {kind} '{name}'.{hint} Known: {', '.join(names) or 'none'}.")


class SettingError(IMBoostError):
    """A setting outside its range."""


class MissingPackageError(IMBoostError):
    """Something whose packages are not installed; see `require`."""

    def __init__(self, needing: str, packages: Iterable[str], extra: str) -> None:
        super().__init__(
            f"{needing} needs {' and '.join(packages)}: pip install 'imboost[{extra}]'."
        )


def require(needing: str, extra: str, *modules: str) -> None:
    """Raise unless all modules are installed, which an optional dependency group holds.

    >>> require("A report", "report", "no_such_module")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    imboost.errors.MissingPackageError: ... pip install 'imboost[report]'.
    """
    missing = [name.replace("_", "-") for name in modules if find_spec(name) is None]
    if missing:
        raise MissingPackageError(needing, missing, extra)


def first_line(error: BaseException) -> str:
    r"""Return the first line of an error's message, without a full stop, or the name of its class.

    >>> first_line(OSError("No space left.\nTry again.")), first_line(EOFError())
    ('No space left', 'EOFError')
    """
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


class DataError(IMBoostError):
    """A data file that is missing, damaged or not of the expected layout."""


class DistillationError(IMBoostError):
    """A distilled model whose scores differ too much from those of its teacher."""


class PersistenceError(IMBoostError):
    """A saved model that is damaged, has another format or cannot be reproduced."""


class SessionError(IMBoostError):
    """A question or an answer that does not fit the state of a session."""


class TrainingError(IMBoostError):
    """A training that failed in another process, or whose process has ended."""


class StoreError(IMBoostError):
    """A session store that cannot be read or written; what it acknowledged is kept."""
