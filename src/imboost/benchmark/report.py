"""The report of a benchmark: a self-contained HTML page and the same tables as Markdown."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from imboost.benchmark.paper import paper_rounds
from imboost.benchmark.results import ResultFile
from imboost.benchmark.tables import MethodTable, failures, method_tables, shared_sets
from imboost.errors import ResultsError
from imboost.reporting import difference_bars, learning_curves, render, small_multiples


def write_report(folder: Path) -> list[Path]:
    """Read ``results.csv`` in `folder` and write ``report.html`` and ``report.md`` beside it.

    Returns
    -------
    list of Path
        The files written.
    """
    lines = ResultFile(folder / "results.csv").read()
    methods = [method for method in method_tables(lines) if method.groups]
    failed = failures(lines)
    if not methods:
        why = f" All {len(failed)} runs failed: {failed[0].reason}" if failed else ""
        raise ResultsError(f"{folder / 'results.csv'} holds no finished run.{why}")
    shared = shared_sets(methods)
    curves = {method.name: method.curve(shared) for method in methods} if shared else {}
    paper_curves = {
        f"paper · {method.query}": paper_rounds(method.query)
        for method in methods
        if method.detector == "imboost" and paper_rounds(method.query)
    }
    all_curves = {**curves, **paper_curves}
    context = {
        "methods": methods,
        "failed": failed,
        "n_runs": sum(line.ends_run for line in lines),
        "summary": [row for method in methods for row in _summary_rows(method)],
        "curves": all_curves,
        "paper_curves": paper_curves,
        "rounds": sorted({number for curve in all_curves.values() for number in curve}),
        "n_shared": len(shared),
        "curves_svg": learning_curves(all_curves, label="mean test AUC"),
        "panels_svg": small_multiples(_panels(methods), label="test AUC"),
        "method_bars": {method.name: _bars(method) for method in methods},
    }
    html, markdown = folder / "report.html", folder / "report.md"
    html.write_text(render("report.html.j2", context), encoding="utf-8")
    markdown.write_text(render("report.md.j2", context), encoding="utf-8")
    return [html, markdown]


def _summary_rows(method: MethodTable) -> list[dict[str, Any]]:
    """Return one row for tables, one for embeddings where both kinds were run, one for all."""
    kinds = {" (tabular)": True, " (embeddings)": False, "": None}
    if method.count(tabular=True) == 0 or method.count(tabular=False) == 0:
        kinds = {"": None}
    rows = []
    for suffix, tabular in kinds.items():
        has_paper = not math.isnan(method.paper_mean("test_auc", tabular=tabular))
        count = method.count(tabular=tabular)
        groups = method.of_kind(tabular)
        near = f"{method.n_near_paper(tabular=tabular)} of {count}" if has_paper else ""
        rows.append(
            {
                "name": method.name + suffix,
                "count": count,
                "seeds": _span([group.n_seeds for group in groups]),
                "auc": method.mean("test_auc", tabular=tabular),
                "paper_auc": method.paper_mean("test_auc", tabular=tabular),
                "ap": method.mean("test_ap", tabular=tabular),
                "paper_ap": method.paper_mean("test_ap", tabular=tabular),
                "near": near,
                "seconds": sum(group.seconds for group in groups) / count,
            }
        )
    return rows


def _panels(methods: list[MethodTable]) -> dict[str, dict[str, dict[int, float]]]:
    """Return curves by data set, then by method."""
    panels: dict[str, dict[str, dict[int, float]]] = {}
    for method in methods:
        for group in method.groups:
            panels.setdefault(group.group, {})[method.name] = group.curve
    return panels


def _bars(method: MethodTable) -> str:
    known = [
        (group.group, group.cells["test_auc"].difference)
        for group in method.groups
        if group.cells["test_auc"].difference is not None
    ]
    if not known:
        return ""
    names, values = zip(*known, strict=True)
    return difference_bars(names, values, label="test AUC minus the paper's")


def _span(counts: list[int]) -> str:
    """Write equal counts as one number, others as a range."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
