"""Findings as CSV, JSON and parts of a page."""

from __future__ import annotations

import csv
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
from imboost.tables.names import name_rows

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
    if ending == ".html":
        shown = page_findings(findings, table, identifier)
        context = {"data": name, "n_rows": table.num_rows, "table_findings": shown}
        return render("findings.html.j2", context)
    found = _as_dicts(findings, table, identifier)
    if ending == ".json":
        content = {"table": name, "n_rows": table.num_rows, "findings": found}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["finding", "kind", "columns", "message", "row", "name", "value"])
    for number, finding in enumerate(found, start=1):
        start = [number, finding["kind"], ", ".join(finding["columns"]), finding["message"]]
        lines = [list(row.values()) for row in finding["rows"]]
        writer.writerows([*start, *line] for line in lines or [["", "", ""]])
    return out.getvalue()


def page_findings(
    findings: Sequence[Finding], table: pa.Table, identifier: str | None
) -> list[dict[str, Any]]:
    """Return what a page shows of each finding."""
    found = _as_dicts(findings, table, identifier, MAX_PAGE_ROWS)
    pairs = zip(found, findings, strict=True)
    return [{**shown, "n_rows": len(finding.rows)} for shown, finding in pairs]


def _as_dicts(
    findings: Sequence[Finding],
    table: pa.Table,
    identifier: str | None,
    max_rows: int | None = None,
) -> list[dict[str, Any]]:
    """Return findings with their sentences, and the names of their first rows."""
    shown = [
        [fact for fact in found.facts[:max_rows] if fact.row is not None] for found in findings
    ]
    facts = [fact for some in shown for fact in some]
    rows = {row for fact in facts for row in (fact.row, fact.other_row) if row is not None}
    names = name_rows(table, identifier, sorted(rows))
    return [
        {
            "kind": found.kind,
            "columns": list(found.columns),
            "message": wording.finding(found.facts),
            "rows": [
                {"row": row, "name": names[row], "value": wording.in_row(fact, names)}
                for fact in some
                if (row := fact.row) is not None
            ],
        }
        for found, some in zip(findings, shown, strict=True)
    ]
