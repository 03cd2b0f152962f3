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
    from imboost.session.log import Entry
    from imboost.session.store import SQLLog


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
    from imboost.scoring.writer import check_score_path, write_table
    from imboost.session.export import history_table
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
        _summarise(store, entries)
    finally:
        store.close()
    if out is not None and replay:
        write_table(out, _replayed_scores(session, name, data))
        say(f"Scores: {out}")
    elif out is not None:
        write_table(out, history_table(entries))
        say(f"History: {out}")


def _summarise(store: SQLLog, entries: list[Entry]) -> None:
    """Print what happened in a session."""
    from imboost.session import AnnotatorAgreement
    from imboost.session.export import history_table
    from imboost.session.log import start_of
    from imboost.session.state import SessionState

    started, state = start_of(entries), SessionState(entries)
    history = history_table(entries)
    answers = Counter(entry.answer.value for entry in state.answers.values())
    say(
        f"Session '{store.name}': {count(started.n_rows, 'row')}, started "
        f"{started.when:%Y-%m-%d %H:%M} UTC.",
        f"Rounds: {state.round}. Questions: {state.n_asked:,}, of which {len(state.open):,} open.",
        f"Answers: {_list(Counter(history['kind'].to_pylist())) or 'none'}.",
    )
    if len(history):
        people = Counter(who or "(no name)" for who in history["who"].to_pylist())
        say(f"By person: {_list(people)}.", f"Rows by answer: {_list(answers) or 'none'}.")
    if state.conflicts:
        say(f"Conflicts: {count(len(state.conflicts), 'row')} without a label until resolved.")
    agreement = AnnotatorAgreement.measure(state.label_pairs)
    if agreement.n_rows:
        kappa = "undefined" if math.isnan(agreement.kappa) else f"{agreement.kappa:.2f}"
        say(
            f"Agreement: {count(agreement.n_rows, 'row')} answered by two people, "
            f"{percent(agreement.fraction)} of them equally; Cohen's kappa {kappa}."
        )


def _list(counts: Counter[str]) -> str:
    """Write counts.

    >>> _list(Counter({"outlier": 2, "inlier": 1300}))
    'inlier 1,300, outlier 2'
    """
    return ", ".join(f"{name} {n:,}" for name, n in counts.most_common())


def _replayed_scores(address: str, name: str, data: Path | None) -> Any:
    """Open the session, which trains its model again, and return the scores as a table."""
    from imboost.scoring.score_columns import PREDICTED
    from imboost.session import Session
    from imboost.session.export import score_table

    with Session.open(address, data, name=name) as session:
        with stage("training"):
            session.start()
        return score_table(session, session.detector).select([*PREDICTED, "answer"])
