"""Findings as CSV, JSON and parts of a page."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from imboost.errors import SettingError
from imboost.findings.finding import Finding
from imboost.present import wording
from imboost.present.pages import render
from imboost.tables.row_names import name_rows

MAX_PAGE_ROWS = 50  # rows of a finding that a page lists
ENDINGS = (".csv", ".json", ".html")


def check_ending(path: Path) -> None:
    """Raise if findings cannot be written to a file of this name."""
    if path.suffix.lower() not in ENDINGS or path.is_dir():
        raise SettingError(
            f"Findings are written to a file that ends with {', '.join(ENDINGS)}; got {path}."
        )


def format_findings(
    ending: str, findings: Sequence[Finding], name: str, table: pa.Table, identifier: str | None
) -> str:
    """Return findings in a format; `name` is that of the table, `identifier` a column of it."""
    if ending == ".json":
        return as_json(findings, name, table, identifier)
    if ending == ".csv":
        return as_csv(findings, table, identifier)
    shown = page_findings(findings, table, identifier)
    context = {"data": name, "n_rows": table.num_rows, "table_findings": shown}
    return render("findings.html.j2", context)


def as_json(
    findings: Sequence[Finding], name: str, table: pa.Table, identifier: str | None
) -> str:
    """Return findings as JSON."""
    names = _names(table, identifier, findings)
    content = {
        "table": name,
        "n_rows": table.num_rows,
        "findings": [
            {
                "kind": one.kind,
                "columns": list(one.columns),
                "message": wording.finding(one.facts),
                "rows": [
                    {
                        "row": fact.row,
                        "name": names[fact.row],
                        "value": wording.in_row(fact, names),
                    }
                    for fact in one.facts
                    if fact.row is not None
                ],
            }
            for one in findings
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def as_csv(findings: Sequence[Finding], table: pa.Table, identifier: str | None) -> str:
    """Return findings as CSV, one line for each row of each finding."""
    names = _names(table, identifier, findings)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["finding", "kind", "columns", "message", "row", "name", "value"])
    for number, one in enumerate(findings, start=1):
        start = [number, one.kind, ", ".join(one.columns), wording.finding(one.facts)]
        for fact in one.facts:
            if fact.row is None:
                writer.writerow([*start, "", "", ""])
            else:
                writer.writerow([*start, fact.row, names[fact.row], wording.in_row(fact, names)])
    return out.getvalue()


def page_findings(
    findings: Sequence[Finding], table: pa.Table, identifier: str | None
) -> list[dict[str, Any]]:
    """Return what a page shows of each finding."""
    shown = [dataclasses.replace(one, facts=one.facts[:MAX_PAGE_ROWS]) for one in findings]
    names = _names(table, identifier, shown)
    return [
        {
            "kind": one.kind,
            "columns": one.columns,
            "message": wording.finding(one.facts),
            "n_rows": len(one.rows),
            "rows": [
                {"name": names[fact.row], "value": wording.in_row(fact, names)}
                for fact in some.facts
                if fact.row is not None
            ],
        }
        for one, some in zip(findings, shown, strict=True)
    ]


def _names(table: pa.Table, identifier: str | None, findings: Sequence[Finding]) -> dict[int, str]:
    """Return the names of all rows in findings, and of the rows that they repeat."""
    facts = [fact for one in findings for fact in one.facts]
    rows = {row for fact in facts for row in (fact.row, fact.other_row) if row is not None}
    return name_rows(table, identifier, sorted(rows))
