"""Assemble a report and write its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from imboost.errors import ResultsError
from imboost.present.formatting import count
from imboost_bench.analysis.method_key import PAPER_PROTOCOL
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.paper import OTHER_DATA_NOTE
from imboost_bench.report import summary_tables
from imboost_bench.report.data_set_tables import (
    PAPER_TABLES,
    difference_matrix,
    figure_matrix,
    tidy_table,
)
from imboost_bench.report.data_sets import data_set_table
from imboost_bench.report.figures import draw_figures
from imboost_bench.report.findings import find_sentences, format_p
from imboost_bench.report.page import render
from imboost_bench.report.report_table import Matrix, Table
from imboost_bench.report.round_tables import round_tables
from imboost_bench.run.ablation import ABLATIONS
from imboost_bench.run.protocol import RoundResult
from imboost_bench.run.results import ResultFile


def write_report(folder: Path, against: str | None = None, data: Path | None = None) -> list[Path]:
    """Read ``results.csv`` in `folder` and write a report next to it.

    Parameters
    ----------
    folder : Path
    against : str, optional
        The reference method, see `ResultSet`.
    data : Path, optional
        Folder with ADBench files, described in table C.1.

    Returns
    -------
    list of Path
        The written ``report.html``, ``report.md`` and folder ``tables``.
    """
    results = ResultSet(ResultFile(folder / "results.csv", RoundResult).read(), against)
    if results.runs.empty:
        failures = ""
        if n_failed := len(results.failed):
            reason = results.failed["reason"].value_counts().index[0]  # the most frequent one
            failures = f" {count(n_failed, 'run')} failed or exceeded the time limit: {reason}"
        raise ResultsError(f"{folder / 'results.csv'} has no finished run.{failures}")
    tables = {name: table(results) for name, table in summary_tables.TABLES.items()}
    tables |= round_tables(results)
    if data is not None:
        tables["C.1_data_sets"] = data_set_table(data)
    ablations = [(own, summary_tables.ablation_table(own)) for own in results.ablations]
    figures = {metric: figure_matrix(results, metric) for metric in PAPER_TABLES}
    differences = {metric: difference_matrix(results, metric) for metric in PAPER_TABLES}
    context = {
        "results": results,
        "findings": find_sentences(results),
        "facts": _facts(results),
        "tables": tables,
        "ablations": ablations,
        "matrices": figures,
        "differences": differences,
        "paper_tables": PAPER_TABLES,
        "paper_protocol": PAPER_PROTOCOL,
        "other_data_note": OTHER_DATA_NOTE,
        "format_p": format_p,
    }
    page, markdown = folder / "report.html", folder / "report.md"
    html = render("report.html.j2", context | {"figures": draw_figures(results)})
    page.write_text(html, encoding="utf-8")
    markdown.write_text(render("report.md.j2", context), encoding="utf-8")
    names = {ablation.table: name for name, ablation in ABLATIONS.items()}
    sheets: dict[str, Table | Matrix | None] = {**tables, "all_figures": tidy_table(results)}
    sheets |= {f"{own.ablation.table}_{names[own.ablation.table]}": t for own, t in ablations}
    for metric, (number, _) in PAPER_TABLES.items():
        sheets[f"{number}_{metric}"] = figures[metric]
        sheets[f"{number}_{metric}_minus_paper"] = differences[metric]
    _write_tables(folder / "tables", sheets)
    return [page, markdown, folder / "tables"]


def _facts(results: ResultSet) -> list[str]:
    """Return the number of runs, and their devices and versions."""
    facts = [count(len(results.runs), "finished run")]
    facts += [f"{n} {status}" for status, n in results.failed.groupby("status").size().items()]
    for column in ("device", "version"):
        counts = results.runs[column].replace("", "unknown").value_counts(sort=False)
        listed = ", ".join(f"{name} ({count(n, 'run')})" for name, n in counts.items())
        one = f"{column} {counts.index[0]}"
        facts.append(f"{column}s {listed}" if len(counts) > 1 else one)
    return facts


def _write_tables(folder: Path, tables: Mapping[str, Table | Matrix | None]) -> None:
    """Write every table as CSV, in place of those of an earlier report."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.csv"):
        old.unlink()
    for name, table in tables.items():
        if table is not None and not table.frame.empty:
            file_name = name.replace("C.", "c") + ".csv"  # "c4_test_auc.csv" for table C.4
            (folder / file_name).write_text(table.csv(), encoding="utf-8")
