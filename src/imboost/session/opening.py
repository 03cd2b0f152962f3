"""Open a session of a store: continue it by its stored settings, or start it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import numpy as np

from imboost.detectors.detector import Detector
from imboost.detectors.stack.detector import Stack
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SessionError
from imboost.query import QueryStrategy
from imboost.session.detector_settings import build_detector, describe_detector
from imboost.session.log import Entry, Started
from imboost.session.selection import draw_seed
from imboost.session.store import SQLLog

if TYPE_CHECKING:
    from imboost.session.session import Session

AnySession = TypeVar("AnySession", bound="Session")


def open_stored(
    kind: type[AnySession],
    url: str | Path,
    X: Any,
    detector: Detector | None,
    name: str,
    path: str | Path | None,
    query: str | QueryStrategy | None,
    audit_share: float | None,
    random_state: int | np.random.RandomState | None,
) -> AnySession:
    """Continue the session of that name or start it; see `Session.open`."""
    log = SQLLog(url, name)
    try:
        started = next(iter(log), None)
        # Without an entry, a process was killed before it started the session: start it anew.
        settings = log.settings if started or X is None else {}
        if settings:
            _check_settings(settings, detector, query, audit_share)
        elif X is None:
            known = ", ".join(log.names())
            raise SessionError(
                f"There is no session '{name}' in {url}: give a table to start it"
                f"{f', or open one of: {known}' if known else ''}."
            )
        if X is None and (X := settings["table"]) is None:
            raise SessionError("The session's table was not a file: give the same table again.")
        is_path = isinstance(X, str | Path)
        if detector is None and settings:
            detector = build_detector(settings["detector"])
        detector = detector or (TableDetector() if is_path or hasattr(X, "columns") else Stack())
        if is_path:
            X = path = _prepare_pool(Path(X), url, name, detector, random_state, bool(settings))
        query = query or _stored_query(settings) or detector.default_query
        share = settings.get("audit_share", 0.0) if audit_share is None else audit_share
        if not settings:
            log.save_settings(
                {
                    "table": None if path is None else str(Path(path).resolve()),
                    "detector": describe_detector(detector),
                    "query": _describe_query(query),
                    "audit_share": share,
                }
            )
        _check_seed(started, random_state)
        return kind(
            detector, X, query=query, log=log, audit_share=share, random_state=random_state
        )
    except BaseException:
        log.close()
        raise


def _prepare_pool(
    table: Path,
    url: str | Path,
    name: str,
    detector: Detector,
    random_state: int | np.random.RandomState | None,
    exists: bool,
) -> Path:
    """Return the path of the candidate pool of a large table, of others that of the table.

    The pool is drawn for a new session, and kept beside it.
    """
    from imboost.scoring.candidate_pool import store_pool
    from imboost.tables.files import TableFiles

    store = str(url).removeprefix("sqlite:///")
    beside = table if "://" in store else Path(store)
    path = path_of_copy(beside, name, ".pool.parquet")
    if exists:  # older sessions on large tables have no pool
        return path if path.is_file() else table
    seed = random_state if isinstance(random_state, int) else 0
    pool = store_pool(TableFiles.find(table), detector, path, seed=seed)
    return table if pool is None else path


def path_of_copy(beside: Path, name: str, ending: str) -> Path:
    """Return the path of a session's own rows, beside its file or its table.

    >>> path_of_copy(Path("/shop/orders.db"), "default", ".parquet").as_posix()
    '/shop/orders.db.default.parquet'
    """
    beside = beside.resolve()
    return beside.with_name(f"{beside.name}.{quote(name, safe='')}{ending}")


def _stored_query(settings: dict[str, Any]) -> str | None:
    query = settings.get("query")
    if isinstance(query, dict):
        raise SessionError(
            f"The session was started with a {query['class']} that cannot be stored: give the "
            "same query strategy again."
        )
    return query


def _describe_query(query: str | QueryStrategy) -> Any:
    return query if isinstance(query, str) else {"class": type(query).__name__}


def _check_settings(
    settings: dict[str, Any],
    detector: Detector | None,
    query: str | QueryStrategy | None,
    audit_share: float | None,
) -> None:
    """Raise if a given setting is not that of the stored session."""
    given = {
        "detector": detector and describe_detector(detector),
        "query": query and _describe_query(query),
        "audit_share": audit_share,
    }
    for name, value in given.items():
        if value is not None and value != settings[name]:
            raise SessionError(
                f"The session was started with {name} {_in_words(settings[name])}, not "
                f"{_in_words(value)}. Leave it out to continue, or start another session."
            )


def _in_words(value: Any) -> str:
    """Write a stored setting.

    >>> _in_words({"name": "stack", "settings": {"n_trees": 50}})
    'stack with n_trees=50'
    """
    if not isinstance(value, dict):
        return str(value)
    if "class" in value:
        return f"a {value['class']}"
    settings = ", ".join(f"{key}={one!r}" for key, one in value["settings"].items())
    return f"{value['name']} with {settings}" if settings else str(value["name"])


def _check_seed(started: Entry | None, random_state: int | np.random.RandomState | None) -> None:
    """Raise if a given seed is not that of the stored session."""
    if (
        isinstance(started, Started)
        and isinstance(random_state, int)
        and draw_seed(random_state) != started.strategy_seed
    ):
        raise SessionError(
            f"The session was started with another random_state than {random_state}. Leave it "
            "out to continue, or start another session."
        )
