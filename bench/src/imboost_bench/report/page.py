"""Assemble a report and write its files."""

from __future__ import annotations

from pathlib import Path

from imboost.present.formatting import count
from imboost.present.pages import render
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.paper import OTHER_DATA_NOTE
from imboost_bench.report.contents import (
    PAPER_TABLES,
    ablation_table,
    data_set_table,
    report_tables,
)
from imboost_bench.report.figures import draw_figures
from imboost_bench.run.protocol import RoundResult
from imboost_bench.run.query_protocol import PAPER_PROTOCOL
from imboost_bench.run.results import ResultFile, ResultsError


def write_report(folder: Path, against: str | None = None, data: Path | None = None) -> list[Path]:
    """Read ``results.csv`` in `folder` and write a report next to it.

    Return the written ``report.html``, ``report.md`` and folder ``tables``. The reference method
    is `against`, see `ResultSet`; `data` is a folder with ADBench files, described in table C.1.
    """
    results = ResultSet(ResultFile(folder / "results.csv", RoundResult).read(), against)
    if results.runs.empty:
        failures = ""
        if n_failed := len(results.failed):
            reason = results.failed["reason"].value_counts().index[0]  # the most frequent one
            failures = f" {count(n_failed, 'run')} failed or exceeded the time limit: {reason}"
        raise ResultsError(f"{folder / 'results.csv'} has no finished run.{failures}")
    tables = report_tables(results)
    if data is not None:
        tables["c1_data_sets"] = data_set_table(data)
    tables |= {name: ablation_table(own) for name, own in results.ablations.items()}
    context = {
        "results": results,
        "facts": _facts(results),
        "tables": tables,
        "ablations": results.ablations,
        "paper_tables": PAPER_TABLES,
        "paper_protocol": PAPER_PROTOCOL,
        "other_data_note": OTHER_DATA_NOTE,
    }
    here = "imboost_bench.report"
    page, markdown, sheets = (folder / name for name in ("report.html", "report.md", "tables"))
    html = render("report.html.j2", context | {"figures": draw_figures(results)}, here)
    page.write_text(html, encoding="utf-8")
    markdown.write_text(render("report.md.j2", context, here), encoding="utf-8")
    sheets.mkdir(exist_ok=True)
    for old in sheets.glob("*.csv"):  # of an earlier report
        old.unlink()
    for name, table in tables.items():
        if table:
            (sheets / f"{name}.csv").write_text(table.csv(), encoding="utf-8")
    return [page, markdown, sheets]


def _facts(results: ResultSet) -> list[str]:
    """Return the number of runs, and their devices and versions."""
    facts = [count(len(results.runs), "finished run")]
    facts += [f"{n} {status}" for status, n in results.failed.groupby("status").size().items()]
    for column in ("device", "version"):
        counts = results.runs[column].replace("", "unknown").value_counts(sort=False)
        listed = ", ".join(f"{name} ({count(n, 'run')})" for name, n in counts.items())
        facts.append(f"{column}s {listed}" if len(counts) > 1 else f"{column} {counts.index[0]}")
    return facts
