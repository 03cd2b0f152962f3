"""`imboost label`: answer questions about the rows of a table, in the browser or the terminal."""

from __future__ import annotations

import os
import socket
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from imboost.cli.console import say
from imboost.cli.fit import given_roles, print_columns
from imboost.cli.inputs import load_model
from imboost.cli.label_source import find_source
from imboost.cli.options import (
    DEFAULT_DETECTOR,
    MAX_SEED,
    AllowedHost,
    Host,
    Missing,
    Roles,
    RolesFile,
    Token,
    check_server,
    reads_tables,
)
from imboost.cli.progress import stage
from imboost.errors import SettingError, require
from imboost.present.formatting import count
from imboost.tables.read_options import ReadOptions
from imboost.validation import check_number

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.labelling.project import Project

DEFAULT_PORT = 8765
DEFAULT_AUDIT_SHARE = 0.1
PACKAGES = ("fastapi", "itsdangerous", "python_multipart", "uvicorn")


@reads_tables
def label(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="CSV, Excel, Parquet, Feather, JSON lines, SQLite or DuckDB file, a folder of "
            "files of one format, - for standard input, or the file of a session to continue.",
        ),
    ],
    session: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_URL",
            help="Where the answers are stored: a file, or postgresql://USER@HOST/DATABASE. "
            "Default: beside the table, as NAME.session.db.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the session; a store can hold several.")
    ] = "default",
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Ask in the terminal instead of the browser.")
    ] = False,
    who: Annotated[str, typer.Option(metavar="NAME", help="Your name, with --terminal.")] = "",
    host: Host = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help=f"Port to listen on; 0 is {DEFAULT_PORT}, or any free one."
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
    token: Token = None,
    allowed_host: AllowedHost = None,
    questions: Annotated[
        int, typer.Option(min=1, help="Answers after which the model is trained again.")
    ] = 10,
    second_opinions: Annotated[
        float, typer.Option(help="Fraction of the answered rows that a second person is asked.")
    ] = 0.0,
    lease: Annotated[
        float,
        typer.Option(help="Seconds after which an unanswered question goes to somebody else."),
    ] = 600.0,
    detector: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"As in 'imboost fit'. Default: {DEFAULT_DETECTOR}."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="Model folder whose detector settings and column roles are used."
        ),
    ] = None,
    role: Roles = None,
    roles: RolesFile = None,
    missing: Missing = None,
    audit_share: Annotated[
        float | None,
        typer.Option(
            help="Fraction of the questions that are drawn at random, for estimates. Default: "
            f"{DEFAULT_AUDIT_SHARE}."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Random seed. Default: 0.")
    ] = None,
    *,
    options: ReadOptions,
) -> None:
    """Answer questions about the rows of a table, in the browser or in the terminal.

    For example:

      imboost label orders.csv

      imboost label shop.db --sql orders --terminal

      imboost label orders.session.db
    """
    check_number("--second-opinions", second_opinions, minimum=0.0, maximum=1.0)
    check_number("--lease", lease, minimum=1.0)
    check_number("--audit-share", audit_share or 0.0, minimum=0.0, maximum=1.0)
    chosen = given_roles(roles, role)
    if model is not None and detector is not None:
        raise SettingError("Give --model or --detector, not both.")
    require("imboost label", "label", "sqlalchemy", "alembic", "jinja2")
    if not terminal:
        require("imboost label", "label", *PACKAGES)
        check_server(host, token)
    if terminal and data == Path("-"):
        raise SettingError("Standard input is for answers with --terminal: name a file with DATA.")
    source = find_source(data, session, name, options)
    settings = {
        "detector": detector,
        "model": model,
        "seed": seed,
        "audit-share": audit_share,
        "role": role,
        "roles": roles,
        "missing": missing,
    }
    given = [name for name, value in settings.items() if value is not None]
    if source.exists and given:
        raise SettingError(
            f"The session {source.shown} exists and keeps its settings: leave out --{given[0]}, "
            "or start another session with --session."
        )
    fresh = _make_detector(detector or DEFAULT_DETECTOR, model, chosen, missing, seed or 0)
    from imboost.labelling.project import Project
    from imboost.labelling.workspace import Workspace

    project = Project(
        source.table,
        source.url,
        name=name,
        detector=fresh,
        make_workspace=partial(
            Workspace,
            n_questions=questions,
            second_opinions=second_opinions,
            lease_seconds=lease,
        ),
        audit_share=DEFAULT_AUDIT_SHARE if audit_share is None else audit_share,
    )
    source.prepare(fresh, seed or 0)
    with stage(f"reading {source.table}"):
        project.open()
    say(f"Session: {source.shown}, {count(_n_answers(project), 'answer')} so far.")
    try:
        if terminal:
            _run_terminal(project, who)
        else:
            _run_page(project, host, port, token, allowed_host, opens_browser=not no_browser)
    except KeyboardInterrupt:
        pass
    finally:
        project.close()
        say(f"{count(_n_answers(project), 'answer')} stored in {source.shown}.")
        if project.workspace is not None:
            project.workspace.wait_until_stopped()


def _make_detector(
    name: str, model: Path | None, roles: dict[str, str], missing: list[str] | None, seed: int
) -> TableDetector:
    """Return a detector by its name, or with the settings and the column roles of a model."""
    from sklearn.base import clone

    from imboost.detectors import make_detector
    from imboost.detectors.table_detector import TableDetector

    if model is None:
        return TableDetector(
            make_detector(name), roles=roles, missing_values=missing, random_state=seed
        )
    fitted = load_model(model)
    roles = {column.name: str(column.role) for column in fitted.schema_} | roles
    made: TableDetector = clone(fitted).set_params(roles=roles, random_state=seed)
    return made if missing is None else made.set_params(missing_values=missing)


def _n_answers(project: Project) -> int:
    return 0 if project.workspace is None else len(project.workspace.session.history)


def _run_terminal(project: Project, who: str) -> None:
    from imboost.labelling.terminal import Terminal, read_keys

    if project.setup is not None:
        print_columns(project.setup.schema, project.setup.table.num_rows)
        project.start()
    if project.workspace is not None:
        waits = not sys.stdin.isatty()
        keys = read_keys(sys.stdin)
        Terminal(project.workspace, keys, who=who, waits_for_training=waits).run()


def _run_page(
    project: Project,
    host: str,
    port: int,
    token: str | None,
    allowed_hosts: list[str] | None,
    *,
    opens_browser: bool,
) -> None:
    from imboost.labelling.app import make_app
    from imboost.web.hosts import AllowedHosts
    from imboost.web.server import run_server

    def on_ready(address: str) -> None:
        say(f"Open {address} in a browser. Stop with Ctrl+C.")
        if opens_browser:
            query = "" if token is None else f"/login?{urlencode({'token': token})}"
            _open_browser(address + query)

    app = make_app(project, token=token, hosts=AllowedHosts.of(host, allowed_hosts or []))
    run_server(app, host, _choose_port(host, port), on_ready=on_ready)


def _choose_port(host: str, port: int) -> int:
    """Return the port to listen on, 0 for any free one."""
    if port:
        return port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, DEFAULT_PORT), family=family):
            return DEFAULT_PORT
    except OSError:
        return 0


def _open_browser(address: str) -> None:
    """Open a page, unless the only browser would run in this terminal."""
    import webbrowser
    from threading import Thread

    has_screen = not sys.platform.startswith("linux") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_screen:
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
