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
from imboost.tables.cells import to_text

MAX_PAGE_ROWS = 50  # rows of a finding that a page lists
ENDINGS = (".csv", ".json", ".html")


def check_ending(path: Path) -> None:
    """Raise if findings cannot be written to a file of this name."""
    if path.suffix.lower() not in ENDINGS or path.is_dir():
        raise SettingError(
            f"Findings are written to a file that ends with {', '.join(ENDINGS)}; got {path}."
        )


def format_findings(
    ending: str, findings: Sequence[Finding], name: str, table: pa.Table, identifiers: list[str]
) -> str:
    """Return findings in a format; `name` is that of the table, `identifiers` are columns."""
    if ending == ".json":
        return as_json(findings, name, table, identifiers)
    if ending == ".csv":
        return as_csv(findings, table, identifiers)
    shown = page_findings(findings, table, identifiers)
    context = {"data": name, "n_rows": table.num_rows, "table_findings": shown}
    return render("findings.html.j2", context)


def as_json(
    findings: Sequence[Finding], name: str, table: pa.Table, identifiers: list[str]
) -> str:
    """Return findings as JSON."""
    ids = _row_ids(table, findings, identifiers)
    content = {
        "table": name,
        "n_rows": table.num_rows,
        "findings": [
            {
                "kind": one.kind,
                "columns": list(one.columns),
                "message": wording.finding(one.facts),
                "rows": [
                    {"row": fact.row, "ids": ids[fact.row], "value": wording.in_row(fact)}
                    for fact in one.facts
                    if fact.row is not None
                ],
            }
            for one in findings
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def as_csv(findings: Sequence[Finding], table: pa.Table, identifiers: list[str]) -> str:
    """Return findings as CSV, one line for each row of each finding."""
    ids = _row_ids(table, findings, identifiers)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["finding", "kind", "columns", "message", "row", "id", "value"])
    for number, one in enumerate(findings, start=1):
        start = [number, one.kind, ", ".join(one.columns), wording.finding(one.facts)]
        for fact in one.facts:
            if fact.row is None:
                writer.writerow([*start, "", "", ""])
            else:
                ends = " ".join(ids[fact.row].values()), wording.in_row(fact)
                writer.writerow([*start, fact.row, *ends])
    return out.getvalue()


def page_findings(
    findings: Sequence[Finding], table: pa.Table, identifiers: list[str]
) -> list[dict[str, Any]]:
    """Return what the template `findings_section.html.j2` shows of each finding."""
    shown = [dataclasses.replace(one, facts=one.facts[:MAX_PAGE_ROWS]) for one in findings]
    ids = _row_ids(table, shown, identifiers)
    return [
        {
            "kind": one.kind,
            "columns": one.columns,
            "message": wording.finding(one.facts),
            "n_rows": len(one.rows),
            "rows": [
                {"name": _row_name(fact.row, ids[fact.row]), "value": wording.in_row(fact)}
                for fact in some.facts
                if fact.row is not None
            ],
        }
        for one, some in zip(findings, shown, strict=True)
    ]


def _row_ids(
    table: pa.Table, findings: Sequence[Finding], identifiers: list[str]
) -> dict[int, dict[str, str]]:
    """Return the identifiers of the rows in findings, by row and column."""
    rows = sorted({row for one in findings for row in one.rows})
    ids: dict[int, dict[str, str]] = {row: {} for row in rows}
    for name in identifiers:
        texts = to_text(table.column(name).take(pa.array(rows, pa.int64()))).to_pylist()
        for row, text in zip(rows, texts, strict=True):
            if text is not None:
                ids[row][name] = text
    return ids


def _row_name(row: int, ids: dict[str, str]) -> str:
    return ", ".join([f"row {row}", *(f"{name} {text}" for name, text in ids.items())])
