"""A table that is labelled: first the roles of its columns, then its questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Literal, cast

import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import clone

from imboost.detectors.table_detector import TableDetector
from imboost.findings.check import check_table
from imboost.labelling.columns import Columns, NumberColumn
from imboost.labelling.workspace import Workspace
from imboost.present import wording
from imboost.present.formatting import percent, shorten
from imboost.scoring.candidate_pool import load_pool
from imboost.session import Session
from imboost.session.store import SQLLog
from imboost.tables.cells import to_text
from imboost.tables.files import TableFiles
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema, Schema

N_EXAMPLES = 3
EXAMPLE_LENGTH = 40  # characters of an example
MAX_CHECKED_ROWS = 50_000  # rows of a table up to which slow checks do not delay the page
SLOW_CHECKS = ("near-duplicates", "relations")
MOSTLY_MISSING = 0.5  # fraction of missing cells that is worth mentioning

Phase = Literal["columns", "training", "questions"]


class Project:
    """A table and its session: the columns are checked, then the session is started.

    A session that exists already is continued, and its columns are not asked about again.

    Parameters
    ----------
    path : Path
        The table.
    url, name, audit_share
        As in `Session.open`.
    detector : TableDetector
        Not changed; its roles, missing values and seed are those of a new session.
    make_workspace : callable
        Returns the workspace of a session.
    """

    def __init__(
        self,
        path: Path,
        url: str,
        *,
        name: str = "default",
        detector: TableDetector,
        make_workspace: Callable[[Session], Workspace] = Workspace,
        audit_share: float = 0.1,
    ) -> None:
        self.path, self.url, self.name = path, url, name
        self.setup: TableSetup | None = None
        self.workspace: Workspace | None = None
        self._detector, self._make_workspace = detector, make_workspace
        self._audit_share = audit_share
        self._starting = Lock()

    @property
    def phase(self) -> Phase:
        """What the page shows: the columns, the first training, or questions."""
        if self.workspace is None:
            return "columns"
        return "questions" if self.workspace.is_ready else "training"

    def open(self) -> None:
        """Read the table, and continue its session if there is one."""
        if stored_settings(self.url, self.name):
            self._work(Session.open(self.url, self.path, name=self.name))
        else:
            self.setup = self._make_setup(self._detector.roles)

    def start(self) -> None:
        """Start a new session with the roles of the setup; does nothing if it is started."""
        with self._starting:
            if self.setup is None or self.workspace is not None:
                return
            self._work(
                Session.open(
                    self.url,
                    load_pool(self.path) or self.setup.table,
                    clone(self._detector).set_params(roles=self.setup.roles),
                    name=self.name,
                    path=self.path,
                    audit_share=self._audit_share,
                    random_state=self._detector.random_state,
                )
            )

    def revise_columns(self) -> None:
        """Go back to the columns after a first training that failed; do nothing at other times.

        It is an error if the session has questions or answers, which belong to its columns.
        """
        with self._starting:
            workspace = self.workspace
            if workspace is None or workspace.is_ready or not workspace.error:
                return
            detector = cast("TableDetector", workspace.session.detector)
            setup = self._make_setup(detector.roles)
            cast("SQLLog", workspace.session.log).remove()
            self.setup, self.workspace = setup, None
        workspace.stop()
        workspace.wait_until_stopped()
        workspace.session.close()

    def close(self) -> None:
        """End the training thread."""
        if self.workspace is not None:
            self.workspace.stop()

    def _make_setup(self, roles: Mapping[str, str] | None) -> TableSetup:
        table = TableFiles.find(self.path).read()
        return TableSetup(table, roles, self._detector.missing_values)

    def _work(self, session: Session) -> None:
        self.workspace = self._make_workspace(session)
        self.workspace.start()


def stored_settings(url: str | Path, name: str) -> dict[str, Any]:
    """Return the settings of a session in a store; empty if there is none of that name."""
    log = SQLLog(url, name)
    try:
        return log.settings
    finally:
        log.close()


class TableSetup:
    """Roles of the columns of a table, inferred and then corrected by a person.

    Parameters
    ----------
    table : Arrow table
    roles : dict of str to str, optional
        Roles that the person has chosen.
    missing_values : sequence of str, optional
        Text that stands for a missing value, as in `TableDetector`.
    """

    def __init__(
        self,
        table: pa.Table,
        roles: Mapping[str, str] | None = None,
        missing_values: Sequence[str] | None = None,
    ) -> None:
        self.table, self._missing_values = table, missing_values
        schema, _ = Schema.fit_parse(table, missing_values=missing_values)
        self.inferred = {column.name: str(column.role) for column in schema}
        self.set_roles(roles or {})

    def set_roles(self, roles: Mapping[str, str]) -> None:
        """Use these roles, and infer those of other columns; nothing changes if this raises."""
        changed = {name: role for name, role in roles.items() if self.inferred.get(name) != role}
        schema, parsed = Schema.fit_parse(self.table, changed, missing_values=self._missing_values)
        self.roles, self.schema = changed, schema
        n_rows = self.table.num_rows
        skipped = SLOW_CHECKS if n_rows > MAX_CHECKED_ROWS else ()
        found = check_table(self.table, schema=(schema, parsed), skip=skipped)
        self.findings = [wording.finding(finding.facts) for finding in found]
        for column in schema:
            share = column.n_missing / max(n_rows, 1)
            if column.role == Role.CONSTANT:
                self.findings.append(f"{column.name} has the same value in every row.")
            elif share >= MOSTLY_MISSING:
                self.findings.append(f"{column.name} is missing in {percent(share)} of rows.")
        self._columns = Columns(self.table, parsed, [])

    def view(self, error: str = "") -> dict[str, Any]:
        """Return the values of the page of all columns."""
        return {
            "columns": [self._column_view(column) for column in self.schema],
            "roles": [str(role) for role in Role],
            "n_rows": self.table.num_rows,
            "findings": self.findings,
            "error": error,
        }

    def _column_view(self, column: ColumnSchema) -> dict[str, Any]:
        texts = to_text(self.table.column(column.name).slice(0, 1000)).drop_null()
        examples = pc.unique(texts).to_pylist()[:N_EXAMPLES]
        used = self._columns.used.get(column.name)
        if isinstance(used, NumberColumn):
            examples = [shorten(text) for text in examples]
        return {
            **vars(column),
            "inferred_role": self.inferred[column.name],
            "examples": [text[:EXAMPLE_LENGTH] for text in examples],
            "picture": used.picture.draw(f"Distribution of {column.name}") if used else "",
        }
