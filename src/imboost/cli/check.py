"""`imboost check`: what is wrong with a table, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import print_table, say, write_text
from imboost.cli.fit import given_roles
from imboost.cli.inputs import first_identifier, load_model
from imboost.cli.options import Missing, Roles, RolesFile, Table, reads_tables
from imboost.cli.progress import stage
from imboost.errors import DataError
from imboost.present.formatting import count
from imboost.tables.read_options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from imboost.detectors.table_detector import TableDetector
    from imboost.findings import Finding
    from imboost.tables.schema import Schema

MAX_ROWS = 5  # row numbers shown for a finding
FOUND = 1  # exit code if there are findings


@reads_tables
def check(
    data: Table,
    model: Annotated[
        Path | None,
        typer.Option(help="Model folder; columns that differ from its training table are found."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File for the findings and their rows: FILE.csv, .json or .html."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Look for this kind; may be repeated.")
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Leave this kind out; may be repeated."),
    ] = None,
    role: Roles = None,
    roles: RolesFile = None,
    write_roles: Annotated[
        Path | None,
        typer.Option(help="Write the roles of all columns to this TOML file, to be edited."),
    ] = None,
    missing: Missing = None,
    *,
    options: ReadOptions,
) -> None:
    """Find what is wrong with a table: duplicates, spellings, broken relations and so on.

    Kinds: duplicates, near-duplicates, repeated-ids, spellings, sentinels, dates, units,
    relations, unreadable, changed. The exit code is 0 if nothing is found, 1 if something is, 2
    for wrong input and 3 if the program fails.
    """
    from imboost.findings.check import check_table, select_kinds
    from imboost.findings.output import check_ending, format_findings
    from imboost.tables.files import TableFiles
    from imboost.tables.roles import roles_as_toml
    from imboost.tables.schema import Schema

    kinds = select_kinds(only or (), skip or ())
    chosen = given_roles(roles, role)
    if out is not None:
        check_ending(out)
    detector = load_model(model) if model is not None else None
    with stage(f"reading {data}"):
        table = TableFiles.find(data, options).read()
    with stage(f"checking {count(table.num_rows, 'row')}"):
        schema, parsed = Schema.fit_parse(
            table, chosen, missing_values=missing, needs_features=False
        )
        findings = check_table(table, schema=(schema, parsed), only=kinds)
        if detector is not None and "changed" in kinds:
            findings += changed_columns(detector, table, schema)
    identifier = first_identifier(schema)
    about = (findings, data.name, table, identifier)
    if write_roles is not None:
        write_text(write_roles, roles_as_toml(schema))
    if out is not None:
        write_text(out, format_findings(out.suffix.lower(), *about))
    if json:
        typer.echo(format_findings(".json", *about), nl=False)
    else:
        _print(findings, table, identifier)
        for path, name in ((out, "Findings"), (write_roles, "Roles")):
            if path is not None:
                say(f"{name}: {path}")
    if findings:
        raise typer.Exit(FOUND)


def changed_columns(detector: TableDetector, table: pa.Table, schema: Schema) -> list[Finding]:
    """Return how the columns of a table differ from those of the training table."""
    from imboost.facts import Fact, FactKind
    from imboost.findings import Finding
    from imboost.scoring.drift import Drift

    if not table.num_rows:
        raise DataError("The table has a header but no rows.")
    changes = Drift.of_table(detector, table).findings()
    facts = [fact for fact in changes if fact.kind is not FactKind.UNUSED_COLUMN]
    trained = {column.name: column for column in detector.schema_}
    for column in schema:
        before, columns = trained.get(column.name), (column.name,)
        if before is None:
            facts.append(Fact(kind=FactKind.NEW_COLUMN, columns=columns))
        elif before.role != column.role and before.role.is_feature and column.role.is_feature:
            role, then = str(column.role), str(before.role)
            facts.append(
                Fact(kind=FactKind.CHANGED_ROLE, columns=columns, value=role, expected=then)
            )
    return [Finding("changed", fact.columns, (fact,)) for fact in facts]


def _print(findings: Sequence[Finding], checked: pa.Table, identifier: str | None) -> None:
    from imboost.present import wording
    from imboost.tables.names import name_rows

    if not findings:
        say(f"Nothing found in {count(checked.num_rows, 'row')}.")
        return
    shown = sorted({row for one in findings for row in one.rows[:MAX_ROWS]})
    names = name_rows(checked, identifier, shown)
    lines = []
    for one in findings:
        rows = ", ".join(names[row] for row in one.rows[:MAX_ROWS])
        more = f" and {len(one.rows) - MAX_ROWS:,} more" if len(one.rows) > MAX_ROWS else ""
        lines.append((one.kind, wording.finding(one.facts), rows + more))
    print_table(count(checked.num_rows, "row"), ("kind", "finding", "rows"), lines)
    n_rows = len({row for one in findings for row in one.rows})
    say(
        f"{count(len(findings), 'finding')} about {count(n_rows, 'row')} of "
        f"{checked.num_rows:,}; rows without an identifier are numbered from 0."
    )
