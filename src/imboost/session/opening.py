"""Open a session of a store: continue it by its stored settings, or start it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import numpy as np

from imboost.detectors.base import BaseDetector
from imboost.detectors.detector import Detector
from imboost.detectors.registry import DETECTORS, make_detector
from imboost.detectors.stack.detector import Stack
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SessionError
from imboost.query import QueryStrategy
from imboost.session.log import Started
from imboost.session.selection import draw_seed
from imboost.session.store import SQLLog

if TYPE_CHECKING:
    from imboost.session.session import Session

AnySession = TypeVar("AnySession", bound="Session")
Settings = dict[str, Any]

TABLE = "table"  # the name of a TableDetector, beside those of the registry


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
        query = query or settings.get("query")
        if isinstance(query, dict):
            raise _not_stored("query strategy", query)
        query = query or detector.default_query
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
        if (
            isinstance(started, Started)
            and isinstance(random_state, int)
            and draw_seed(random_state) != started.strategy_seed
        ):
            raise SessionError(
                f"The session was started with another random_state than {random_state}. Leave it "
                "out to continue, or start another session."
            )
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
    from imboost.scoring.candidate_pool import needs_pool, store_pool
    from imboost.tables.files import TableFiles

    store = str(url).removeprefix("sqlite:///")
    path = path_of_copy(table if "://" in store else Path(store), name, ".pool.parquet")
    if exists:  # older sessions on large tables have no pool
        return path if path.is_file() else table
    if not needs_pool(files := TableFiles.find(table)):
        return table
    seed = random_state if isinstance(random_state, int) else 0
    store_pool(files, detector, path, seed=seed)
    return path


def path_of_copy(beside: Path, name: str, ending: str) -> Path:
    """Return the path of a session's own rows, beside its file or its table.

    >>> path_of_copy(Path("/shop/orders.db"), "default", ".parquet").as_posix()
    '/shop/orders.db.default.parquet'
    """
    beside = beside.resolve()
    return beside.with_name(f"{beside.name}.{quote(name, safe='')}{ending}")


def describe_detector(detector: Detector) -> Settings:
    """Return the name and the settings of a detector that differ from the defaults.

    The seed is left out: it is in the log. A detector that is not one of the package, or has
    settings that are not plain values, has only a "class": it has to be given again.

    >>> from imboost import Stack, TableDetector
    >>> describe_detector(Stack(n_trees=50, random_state=1))
    {'name': 'stack', 'settings': {'n_trees': 50}}
    >>> describe_detector(TableDetector(roles={"code": "text"}))["settings"]
    {'roles': {'code': 'text'}}
    """
    described = []
    makers: dict[str, Callable[[], Detector]] = {**DETECTORS, TABLE: TableDetector}
    for name, make in makers.items():
        if type(default := make()) is type(detector):
            defaults = default.get_params(deep=False) | {"random_state": detector.random_state}
            given = detector.get_params(deep=False)
            settings = {key: _to_json(v) for key, v in given.items() if v != defaults[key]}
            if _is_plain(settings):
                described.append({"name": name, "settings": settings})
    not_stored = {"class": type(detector).__name__}
    return min(described, key=lambda found: len(found["settings"]), default=not_stored)


def build_detector(description: Settings) -> Detector:
    """Return a new detector by what `describe_detector` returned."""
    if "class" in description:
        raise _not_stored("detector", description)
    name, settings = description["name"], dict(description["settings"])
    if name == TABLE:
        if isinstance(inner := settings.get("detector"), dict):
            settings["detector"] = build_detector(inner)
        return TableDetector(**settings)
    for key, default in DETECTORS[name]().get_params().items():
        if isinstance(default, tuple) and isinstance(settings.get(key), list):
            settings[key] = tuple(settings[key])
    return make_detector(name, **settings)


def _to_json(value: Any) -> Any:
    if isinstance(value, BaseDetector):
        return describe_detector(value)
    return list(value) if isinstance(value, tuple) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return "class" not in value and all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)


def _not_stored(kind: str, description: Settings) -> SessionError:
    return SessionError(
        f"The session was started with a {description['class']} that cannot be stored: give the "
        f"same {kind} again."
    )


def _describe_query(query: str | QueryStrategy) -> Any:
    return query if isinstance(query, str) else {"class": type(query).__name__}


def _check_settings(
    settings: Settings,
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
    settings = ", ".join(f"{key}={setting!r}" for key, setting in value["settings"].items())
    return f"{value['name']} with {settings}" if settings else str(value["name"])
