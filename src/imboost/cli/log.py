"""`imboost log`: summarise, export and replay the history of a session."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imboost.cli.console import say
from imboost.cli.progress import stage
from imboost.errors import SessionError, SettingError, require
from imboost.present.formatting import count, percent

if TYPE_CHECKING:
    import pyarrow as pa

    from imboost.session.log import Entry


def log(
    session: Annotated[
        str, typer.Argument(help="Session file, or the address of a database (postgresql://...).")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="CSV or Parquet file for the history, or for the scores of --replay."),
    ] = None,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Train the model again from the history and write its scores."
        ),
    ] = False,
    name: Annotated[str, typer.Option(help="Name of the session in its store.")] = "default",
    data: Annotated[
        Path | None, typer.Option(help="The session's table, if it is not where it was.")
    ] = None,
) -> None:
    """Summarise the history of a session, export it or replay it."""
    require("imboost log", "sessions", "sqlalchemy", "alembic")
    from imboost.scoring.score_files import PREDICTED, check_score_path
    from imboost.scoring.table_writers import write_table
    from imboost.session import Session
    from imboost.session.export import history_table, score_table
    from imboost.session.store import SQLLog

    if "://" not in session and not Path(session).is_file():
        raise SessionError(f"The session {session} does not exist.")
    if replay and out is None:
        raise SettingError("--replay writes scores: name a file for them with --out.")
    if out is not None:
        check_score_path(out, [Path(session)])
    store = SQLLog(session, name)
    try:
        entries = list(store)
        if not entries:
            known = ", ".join(store.names()) or "none"
            raise SessionError(f"There is no session '{name}' in {session}; there are: {known}.")
    finally:
        store.close()
    history = history_table(entries)
    _summarise(name, entries, history)
    if out is not None and replay:
        with Session.open(session, data, name=name) as opened:
            with stage("training"):
                opened.start()
            scores = score_table(opened, opened.detector)
        write_table(out, scores.select([*PREDICTED, "answer"]))
        say(f"Scores: {out}")
    elif out is not None:
        write_table(out, history)
        say(f"History: {out}")


def _summarise(name: str, entries: list[Entry], history: pa.Table) -> None:
    from imboost.session.log import start_of
    from imboost.session.state import SessionState

    started, state = start_of(entries), SessionState(entries)
    progress = state.progress()
    kinds = Counter(history["kind"].to_pylist()).most_common()
    entries_of_kind = [count(n, kind) for kind, n in kinds]
    say(
        f"Session '{name}': {count(started.n_rows, 'row')}, started "
        f"{started.when:%Y-%m-%d %H:%M} UTC.",
        f"Rounds: {state.round}. Questions: {state.n_asked:,}, of which {progress.n_open:,} open.",
        f"Entries: {', '.join(entries_of_kind) or 'none'}.",
    )
    if len(history):
        people = Counter(who or "(no name)" for who in history["who"].to_pylist())
        say(f"By person: {_list(people)}.", f"Rows by answer: {_list(progress.counts)}.")
    if progress.n_conflicts:
        say(f"Conflicts: {count(progress.n_conflicts, 'row')} without a label until resolved.")
    if (agreement := progress.agreement).n_rows:
        kappa = "undefined" if math.isnan(agreement.kappa) else f"{agreement.kappa:.2f}"
        say(
            f"Agreement: {count(agreement.n_rows, 'row')} answered by two people, "
            f"{percent(agreement.fraction)} of them equally; Cohen's kappa {kappa}."
        )


def _list(counts: Counter[Any]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.most_common()) or "none"
