"""Write a trace as a CSV file with one line per update, and an HTML page with the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imboost.benchmark.trace.findings import Finding
from imboost.benchmark.trace.phases import Phase, fraction, phases_of, trace_frame
from imboost.benchmark.trace.recording import MAX_MEASURED_ROWS, PhaseKind, Trace, Update
from imboost.reporting import render, update_curves

if TYPE_CHECKING:
    from pandas import DataFrame


def write_trace(trace: Trace, findings: Sequence[Finding], folder: Path) -> list[Path]:
    """Write ``trace_DATASET.csv`` and ``trace_DATASET.html`` into `folder`; return both."""
    name = f"trace_{trace.spec.dataset.replace('/', '_')}"
    table, page = folder / f"{name}.csv", folder / f"{name}.html"
    frame = trace_frame(trace)
    columns = [*(field.name for field in fields(Update)), "cosine"]
    frame[columns].to_csv(table, index=False, float_format="%.9g")
    phases = phases_of(frame)
    measured = [min(n, MAX_MEASURED_ROWS) for n in (trace.n_inliers, trace.n_outliers)]
    context = {
        "trace": trace,
        "last": trace.updates[-1],
        "findings": findings,
        "rows": [_phase_row(phase) for phase in phases],
        "n_measured": measured,
        "is_sampled": measured != [trace.n_inliers, trace.n_outliers],
        "table": table.name,
        **_figures(trace, frame, phases),
    }
    page.write_text(render("trace.html.j2", context), encoding="utf-8")
    return [table, page]


def _figures(trace: Trace, frame: DataFrame, phases: Sequence[Phase]) -> dict[str, str]:
    """Draw the figures of the page, by name."""
    spans = {
        phase.name.replace(" warm-up", "\nwarm-up"): (phase.first["update"], phase.last["update"])
        for phase in phases
    }

    def draw(names: dict[str, str], label: str, **scale: Any) -> str:
        curves = {name: frame[column].to_dict() for name, column in names.items()}
        return update_curves(curves, spans, label=label, **scale)

    losses = {
        "inliers, mean": "inlier_risk",
        "outliers, mean": "outlier_risk",
        "inliers, median": "inlier_median",
        "outliers, median": "outlier_median",
    }
    norms = {"inlier risk": "inlier_gradient_norm", "outlier risk": "outlier_gradient_norm"}
    # Linear up to the largest inlier risk; the outlier risk may be many times larger.
    linear_up_to = float(frame["inlier_risk"].abs().max()) or 1.0
    # Fractions of outliers are drawn by epoch, since a single batch has too few outliers.
    columns = ["kept_outliers", "kept", "batch_outliers", "batch_size"]
    by_epoch = frame.groupby("epoch")
    totals = by_epoch[columns].sum().set_axis(by_epoch["update"].last())
    kept = 100 * totals["kept_outliers"] / totals["kept"].clip(lower=1)
    drawn = 100 * totals["batch_outliers"] / totals["batch_size"].clip(lower=1)
    fractions = {
        "kept by trimming": kept.to_dict(),
        "in the batch": drawn.to_dict(),
        "in all training rows": dict.fromkeys(totals.index, 100 * trace.contamination),
    }
    return {
        "risks_svg": draw(losses, "loss", scale="symlog", linear_up_to=linear_up_to),
        "fractions_svg": update_curves(fractions, spans, label="outliers, % of rows"),
        "cosine_svg": draw({"cosine": "cosine"}, "cosine of the gradients"),
        "norms_svg": draw(norms, "norm of the gradient", scale="log"),
    }


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
        "kept": fraction(updates, "kept_outliers", "batch_outliers") if is_trimmed else None,
        "inside": fraction(updates, "kept_outliers", "kept"),
        "opposed": updates["is_opposed"].mean(),
        "cosine": updates["cosine"].mean(),
    }
