"""Assemble a report and write its files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from imboost.benchmark.report import figures, tables
from imboost.benchmark.report.findings import count_words, find_words, p_words
from imboost.benchmark.report.matrices import (
    PAPER_TABLES,
    difference_matrix,
    figure_matrix,
    tidy_figures,
)
from imboost.benchmark.report.rounds import round_tables
from imboost.benchmark.report.steps import step_tables
from imboost.benchmark.report.study import Study
from imboost.benchmark.run.ablation import ABLATIONS
from imboost.benchmark.run.protocol import RoundResult
from imboost.benchmark.run.results import ResultFile
from imboost.errors import ResultsError
from imboost.reporting import Matrix, Table, render


def write_report(folder: Path, against: str | None = None) -> list[Path]:
    """Read ``results.csv`` in `folder` and write a report beside it.

    Parameters
    ----------
    folder : Path
    against : str, optional
        The method that others are compared with, see `Study`.

    Returns
    -------
    list of Path
        What was written: ``report.html``, ``report.md`` and the folder ``tables``.
    """
    study = Study(ResultFile(folder / "results.csv", RoundResult).read(), against)
    if not study.tables:
        raise ResultsError(f"{folder / 'results.csv'} holds no finished run.{_why(study)}")
    matrices = {metric: _matrices(study, metric) for metric in PAPER_TABLES}
    context = {
        "study": study,
        "words": find_words(study),
        "facts": _facts(study),
        "tables": _tables(study),
        "ablations": _ablations(study),
        "matrices": matrices,
        "paper_tables": PAPER_TABLES,
        "count": count_words,
        "p_words": p_words,
    }
    page, markdown, sheets = folder / "report.html", folder / "report.md", folder / "tables"
    pictures = {"figures": _figures(study)}
    page.write_text(render("report.html.j2", context | pictures), encoding="utf-8")
    markdown.write_text(render("report.md.j2", context), encoding="utf-8")
    _write_sheets(sheets, study, context)
    return [page, markdown, sheets]


def _tables(study: Study) -> dict[str, Table]:
    """Return the tables by the name of their file."""
    return {
        "summary": tables.summary_table(study),
        "paired_differences": tables.gain_table(study),
        **round_tables(study),
        **step_tables(study),
        "c6_c7_queries": tables.query_table(study),
        "c13_running_times": tables.time_table(study),
        "set_by_set": tables.set_table(study, study.reference),
        "other_protocols": tables.variant_table(study),
        "left_out": tables.gap_table(study),
        "without_result": tables.trouble_table(study),
    }


def _ablations(study: Study) -> dict[str, dict[str, Any]]:
    """Return the tables of the ablations with figures of ours, by the name of their file."""
    names = {ablation.table: name for name, ablation in ABLATIONS.items()}
    return {
        f"{_file_name(own.ablation.table)}_{names[own.ablation.table]}": {
            "own": own,
            "table": tables.ablation_table(own),
        }
        for own in study.ablations
        if own.is_measured
    }


def _matrices(study: Study, metric: str) -> dict[str, Matrix]:
    """Return our figures and, where the paper has any, the differences to it."""
    differences = difference_matrix(study, metric)
    found = {"": figure_matrix(study, metric)}
    return found if differences is None else found | {"_minus_paper": differences}


def _figures(study: Study) -> dict[str, str]:
    """Return the figures; empty texts for those that would have nothing to show."""
    is_shared = bool(study.shared)
    has_intervals = any(not math.isnan(gain.low) for gain in study.gains.values())
    has_ranks = not math.isnan(study.rankings["test_auc"].critical)
    has_leaders = len(study.leaders) > 1 or not study.queries
    has_settings = any(own.is_measured for own in study.ablations)
    return {
        "means": figures.mean_figure(study) if is_shared else "",
        "gains": figures.gain_figure(study) if has_intervals else "",
        "ranks": figures.rank_figure(study) if has_ranks else "",
        "queries": figures.query_figure(study) if study.queries and study.query_sets else "",
        "leaders": figures.leader_figure(study) if is_shared and has_leaders else "",
        "settings": (
            figures.setting_figure(study) if has_settings or figures.time_panel(study) else ""
        ),
        "sets": figures.set_figure(study),
    }


def _facts(study: Study) -> list[str]:
    """Say what the results were made of, and what does not fit together in them."""
    runs = sum(line.ends_run for line in study.lines)
    facts = [f"{count_words(runs, 'finished run')}"]
    for status in ("failed", "skipped"):
        n = sum(trouble.n_runs for trouble in study.troubles if trouble.status == status)
        facts += [f"{n} {status}"] if n else []
    for column, noun in (("device", "device"), ("version", "version")):
        counts = {name or "unknown": n for name, n in study.runs_by(column).items()}
        listed = ", ".join(f"{name} ({n} runs)" for name, n in counts.items())
        facts.append(f"{noun}s {listed}" if len(counts) > 1 else f"{noun} {next(iter(counts))}")
    return facts


def _write_sheets(folder: Path, study: Study, context: dict[str, Any]) -> None:
    """Write every table as a file of comma-separated values."""
    sheets: dict[str, Table | Matrix] = {**context["tables"], "all_figures": tidy_figures(study)}
    sheets |= {name: found["table"] for name, found in context["ablations"].items()}
    for metric, found in context["matrices"].items():
        number = _file_name(PAPER_TABLES[metric][0])
        sheets |= {f"{number}_{metric}{suffix}": matrix for suffix, matrix in found.items()}
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.csv"):  # of an earlier report, which may have had other tables
        old.unlink()
    for name, sheet in sheets.items():
        if not sheet.rows:
            continue
        (folder / f"{name}.csv").write_text(sheet.csv(), encoding="utf-8")


def _file_name(table: str) -> str:
    return table.lower().replace(".", "")


def _why(study: Study) -> str:
    """Say why there is no result."""
    if not study.troubles:
        return ""
    n = sum(trouble.n_runs for trouble in study.troubles)
    return f" Of {count_words(n, 'run')} none went well: {study.troubles[0].reason}"
