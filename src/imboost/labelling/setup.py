"""The table before the first question: roles of columns, and what is notable about the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from imboost.findings.check import check_table
from imboost.labelling.columns import Columns, NumberColumn
from imboost.labelling.views import ColumnsView, ColumnView
from imboost.present import wording
from imboost.present.formatting import percent, shorten
from imboost.tables.cells import to_text
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema, Schema

N_EXAMPLES = 3
EXAMPLE_LENGTH = 40  # characters of an example
MAX_CHECKED_ROWS = 50_000  # rows of a table up to which slow checks do not delay the page
SLOW_CHECKS = ("near-duplicates", "relations")
MOSTLY_MISSING = 0.5  # fraction of missing cells that is worth mentioning


class TableSetup:
    """Roles of the columns of a table, inferred and then corrected by a person.

    Parameters
    ----------
    table : Arrow table
    roles : dict of str to str, optional
        Roles that the person has chosen.
    """

    def __init__(self, table: pa.Table, roles: Mapping[str, str] | None = None) -> None:
        self.table = table
        self.inferred = Schema.fit(table)
        self.set_roles(roles or {})

    def set_roles(self, roles: Mapping[str, str]) -> None:
        """Use these roles; those of other columns are inferred.

        Raises
        ------
        IMBoostError
            If a column cannot have its role; the roles then stay as they were.
        """
        inferred = {column.name: str(column.role) for column in self.inferred}
        changed = {name: role for name, role in roles.items() if inferred.get(name) != role}
        schema, parsed = Schema.fit_parse(self.table, changed)
        self.roles, self.schema = changed, schema
        skipped = SLOW_CHECKS if self.table.num_rows > MAX_CHECKED_ROWS else ()
        found = check_table(self.table, schema=(schema, parsed), skip=skipped)
        self._found = [wording.finding(finding.facts) for finding in found]
        self._columns = Columns(self.table, parsed, [])

    def view(self, error: str = "") -> ColumnsView:
        """Return what the page shows."""
        return ColumnsView(
            columns=[
                self._column_view(index, column, str(inferred.role))
                for index, (column, inferred) in enumerate(
                    zip(self.schema, self.inferred, strict=True)
                )
            ],
            roles=[str(role) for role in Role],
            n_rows=self.table.num_rows,
            findings=list(self._findings()),
            error=error,
        )

    def _column_view(self, index: int, column: ColumnSchema, inferred_role: str) -> ColumnView:
        texts = to_text(self.table.column(column.name).slice(0, 1000)).drop_null()
        examples = pc.unique(texts).to_pylist()[:N_EXAMPLES]
        used = self._columns.used.get(column.name)
        if isinstance(used, NumberColumn):
            examples = [shorten(text) for text in examples]
        return ColumnView(
            index=index,
            name=column.name,
            role=str(column.role),
            inferred_role=inferred_role,
            n_missing=column.n_missing,
            n_distinct=column.n_distinct,
            note=column.note,
            examples=[text[:EXAMPLE_LENGTH] for text in examples],
            picture=used.picture.draw(f"Distribution of {column.name}") if used else Markup(),
        )

    def _findings(self) -> Iterator[str]:
        """Yield what is notable about the table as a whole."""
        yield from self._found
        n_rows = self.table.num_rows
        for column in self.schema:
            if column.role == Role.CONSTANT:
                yield f"{column.name} has the same value in every row."
            elif column.n_missing >= MOSTLY_MISSING * n_rows:
                yield f"{column.name} is missing in {percent(column.n_missing / n_rows)} of rows."
