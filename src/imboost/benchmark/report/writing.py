"""Assemble a report and write its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from imboost.benchmark.analysis.result_set import ResultSet
from imboost.benchmark.report import summary_tables
from imboost.benchmark.report.data_set_tables import (
    PAPER_TABLES,
    difference_matrix,
    figure_matrix,
    tidy_table,
)
from imboost.benchmark.report.figures import draw_figures
from imboost.benchmark.report.findings import find_sentences, format_p
from imboost.benchmark.report.round_tables import round_tables
from imboost.benchmark.run.ablation import ABLATIONS
from imboost.benchmark.run.protocol import RoundResult
from imboost.benchmark.run.results import ResultFile
from imboost.errors import ResultsError
from imboost.reporting import Matrix, Table, render
from imboost.reporting.formatting import count


def write_report(folder: Path, against: str | None = None) -> list[Path]:
    """Read ``results.csv`` in `folder` and write a report next to it.

    Parameters
    ----------
    folder : Path
    against : str, optional
        The reference method, see `ResultSet`.

    Returns
    -------
    list of Path
        The written ``report.html``, ``report.md`` and folder ``tables``.
    """
    results = ResultSet(ResultFile(folder / "results.csv", RoundResult).read(), against)
    if results.runs.empty:
        raise ResultsError(f"{folder / 'results.csv'} has no finished run.{_failures(results)}")
    context = {
        "results": results,
        "findings": find_sentences(results),
        "facts": _facts(results),
        "tables": _tables(results),
        "ablations": _ablations(results),
        "matrices": {metric: _matrices(results, metric) for metric in PAPER_TABLES},
        "paper_tables": PAPER_TABLES,
        "format_p": format_p,
    }
    page, markdown, tables = folder / "report.html", folder / "report.md", folder / "tables"
    figures = {"figures": draw_figures(results)}
    page.write_text(render("report.html.j2", context | figures), encoding="utf-8")
    markdown.write_text(render("report.md.j2", context), encoding="utf-8")
    _write_tables(tables, results, context)
    return [page, markdown, tables]


def _tables(results: ResultSet) -> dict[str, Table]:
    """Return the tables by file name."""
    return {
        "summary": summary_tables.summary_table(results),
        "paired_differences": summary_tables.difference_table(results),
        **round_tables(results),
        "c6_c7_queries": summary_tables.query_table(results),
        "c13_running_times": summary_tables.time_table(results),
        "reference": summary_tables.reference_table(results),
        "other_protocols": summary_tables.protocol_table(results),
        "missing_results": summary_tables.missing_table(results),
        "failed_runs": summary_tables.failure_table(results),
    }


def _ablations(results: ResultSet) -> dict[str, dict[str, Any]]:
    """Return the tables of the ablations by file name."""
    names = {ablation.table: name for name, ablation in ABLATIONS.items()}
    return {
        f"{_file_name(own.ablation.table)}_{names[own.ablation.table]}": {
            "own": own,
            "table": summary_tables.ablation_table(own),
        }
        for own in results.ablations
    }


def _matrices(results: ResultSet, metric: str) -> dict[str, Matrix]:
    """Return our figures and, where the paper has any, the differences to it."""
    differences = difference_matrix(results, metric)
    found = {"": figure_matrix(results, metric)}
    return found if differences is None else found | {"_minus_paper": differences}


def _facts(results: ResultSet) -> list[str]:
    """Return the number of runs, and their devices and versions."""
    facts = [count(len(results.runs), "finished run")]
    facts += [f"{n} {status}" for status, n in results.failed.groupby("status").size().items()]
    for column in ("device", "version"):
        counts = {name or "unknown": n for name, n in results.runs_by(column).items()}
        listed = ", ".join(f"{name} ({count(n, 'run')})" for name, n in counts.items())
        one = f"{column} {next(iter(counts))}"
        facts.append(f"{column}s {listed}" if len(counts) > 1 else one)
    return facts


def _write_tables(folder: Path, results: ResultSet, context: dict[str, Any]) -> None:
    """Write every table as CSV, in place of those of an earlier report."""
    tables: dict[str, Table | Matrix] = {
        **context["tables"],
        "all_figures": tidy_table(results),
    }
    tables |= {name: found["table"] for name, found in context["ablations"].items()}
    for metric, found in context["matrices"].items():
        number = _file_name(PAPER_TABLES[metric][0])
        tables |= {f"{number}_{metric}{suffix}": matrix for suffix, matrix in found.items()}
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.csv"):
        old.unlink()
    for name, table in tables.items():
        if not table.frame.empty:
            (folder / f"{name}.csv").write_text(table.csv(), encoding="utf-8")


def _file_name(table: str) -> str:
    return table.lower().replace(".", "")


def _failures(results: ResultSet) -> str:
    """Return a sentence about the most frequent failure."""
    if results.failed.empty:
        return ""
    reason = results.failed["reason"].value_counts().index[0]
    return f" {count(len(results.failed), 'run')} failed or exceeded the time limit: {reason}"
