"""Write a trace as a CSV file with one line per update, and an HTML page with the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imboost.benchmark.trace.findings import Finding
from imboost.benchmark.trace.phases import (
    Phase,
    kept_outlier_share,
    phases_of,
    share_of_outliers_kept,
    trace_frame,
)
from imboost.benchmark.trace.recording import MAX_MEASURED_ROWS, PhaseKind, Trace, Update
from imboost.reporting import render, update_curves

if TYPE_CHECKING:
    from pandas import DataFrame

Spans = dict[str, tuple[int, int]]


def write_trace(trace: Trace, findings: Sequence[Finding], folder: Path) -> list[Path]:
    """Write ``trace_DATASET.csv`` and ``trace_DATASET.html`` into `folder`; return both."""
    name = f"trace_{trace.spec.dataset.replace('/', '_')}"
    table, page = folder / f"{name}.csv", folder / f"{name}.html"
    frame = trace_frame(trace)
    columns = [*(field.name for field in fields(Update)), "cosine"]
    frame[columns].to_csv(table, index=False, float_format="%.9g")
    page.write_text(_page(trace, frame, findings, table.name), encoding="utf-8")
    return [table, page]


def _page(trace: Trace, frame: DataFrame, findings: Sequence[Finding], table: str) -> str:
    phases = phases_of(frame)
    spans = {
        phase.name.replace(" warm-up", "\nwarm-up"): (phase.first["update"], phase.last["update"])
        for phase in phases
    }
    n_measured = (
        min(trace.n_inliers, MAX_MEASURED_ROWS),
        min(trace.n_outliers, MAX_MEASURED_ROWS),
    )
    context = {
        "trace": trace,
        "last": trace.updates[-1],
        "findings": findings,
        "rows": [_phase_row(phase) for phase in phases],
        "n_measured": n_measured,
        "is_sampled": n_measured != (trace.n_inliers, trace.n_outliers),
        "table": table,
        "risks_svg": _risks(frame, spans),
        "shares_svg": _shares(trace, frame, spans),
        "cosine_svg": update_curves(
            {"cosine": frame["cosine"].to_dict()}, spans, label="cosine of the gradients"
        ),
        "norms_svg": update_curves(
            {
                "inlier risk": frame["inlier_gradient_norm"].to_dict(),
                "outlier risk": frame["outlier_gradient_norm"].to_dict(),
            },
            spans,
            label="norm of the gradient",
            scale="log",
        ),
    }
    return render("trace.html.j2", context)


def _risks(frame: DataFrame, spans: Spans) -> str:
    return update_curves(
        {
            "inliers, mean": frame["inlier_risk"].to_dict(),
            "outliers, mean": frame["outlier_risk"].to_dict(),
            "inliers, median": frame["inlier_median"].to_dict(),
            "outliers, median": frame["outlier_median"].to_dict(),
        },
        spans,
        label="loss",
        scale="symlog",
        # Linear up to the largest inlier risk; the outlier risk may be many times larger.
        linear_up_to=float(frame["inlier_risk"].abs().max()) or 1.0,
    )


def _shares(trace: Trace, frame: DataFrame, spans: Spans) -> str:
    """Draw the fractions of outliers by epoch, since a single batch has too few of them."""
    totals = frame.groupby("epoch").agg(
        {
            "update": "last",
            "kept_outliers": "sum",
            "kept": "sum",
            "batch_outliers": "sum",
            "batch_size": "sum",
        }
    )
    totals = totals.set_index("update")
    inside = 100 * totals["kept_outliers"] / totals["kept"].clip(lower=1)
    drawn = 100 * totals["batch_outliers"] / totals["batch_size"].clip(lower=1)
    curves = {
        "kept by trimming": inside.to_dict(),
        "in the batch": drawn.to_dict(),
        "in all training rows": dict.fromkeys(totals.index, 100 * trace.outlier_share),
    }
    return update_curves(curves, spans, label="outliers, % of rows")


def _phase_row(phase: Phase) -> dict[str, Any]:
    """Return the row of a phase in the tables of the page."""
    end, updates = phase.last, phase.updates
    is_trimmed = phase.first["phase"] != PhaseKind.PLAIN
    return {
        "name": phase.name,
        "updates": f"{phase.first['update']} to {end['update']}",
        "answers": f"{end['answered_inliers']} + {end['answered_outliers']}",
        "start": phase.before,
        "end": end,
        "fell": updates["inlier_fell"].mean(),
        "rose": updates["outlier_rose"].mean(),
        "both": updates["both"].mean(),
        "kept": share_of_outliers_kept(updates) if is_trimmed else None,
        "inside": kept_outlier_share(updates),
        "opposed": updates["is_opposed"].mean(),
        "cosine": updates["cosine"].mean(),
    }
