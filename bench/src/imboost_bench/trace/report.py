"""Write the traces of all variants as a CSV file, and an HTML page with the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from imboost.present.pages import render
from imboost_bench.report.charts import update_curves
from imboost_bench.trace.claims import Finding, imbalance
from imboost_bench.trace.phases import (
    AS_THEY_ARE,
    SCALED,
    SCALED_EACH,
    Phase,
    Reading,
    fraction,
)
from imboost_bench.trace.recording import MAX_MEASURED_ROWS, PhaseKind, Trace, Update

_RISKS = {
    "inliers, mean": "inlier_risk",
    "outliers, mean": "outlier_risk",
    "inliers, median": "inlier_median",
    "outliers, median": "outlier_median",
}


@dataclass(frozen=True)
class TracedVariant:
    """A trace, its findings, its figures by name, and its rows in the tables of the page."""

    name: str
    trace: Trace
    findings: Sequence[Finding]
    figures: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]


def write_traces(
    traces: Mapping[str, Trace], findings: Mapping[str, Sequence[Finding]], folder: Path
) -> list[Path]:
    """Write ``trace_DATASET.csv`` and ``trace_DATASET.html`` into `folder`; return both.

    `traces` and `findings` are those of the variants, by name.
    """
    first = next(iter(traces.values()))
    name = f"trace_{first.spec.dataset.replace('/', '_')}"
    table, page = folder / f"{name}.csv", folder / f"{name}.html"
    columns = [*(field.name for field in fields(Update)), "cosine"]
    variants, frames = [], []
    for variant, trace in traces.items():
        plain = Reading.of(trace, AS_THEY_ARE)
        frames.append(plain.frame[columns].assign(variant=variant))
        rows = [_phase_row(plain, phase) for phase in plain.phases]
        figures = _figures(plain, Reading.of(trace, SCALED), Reading.of(trace, SCALED_EACH))
        variants.append(TracedVariant(variant, trace, findings[variant], figures, rows))
    pd.concat(frames)[["variant", *columns]].to_csv(table, index=False, float_format="%.9g")
    measured = [min(n, MAX_MEASURED_ROWS) for n in (first.n_inliers, first.n_outliers)]
    context = {
        "trace": first,
        "detector": first.detector,
        "variants": variants,
        "claims": _by_claim(variants),
        "n_measured": measured,
        "is_sampled": measured != [first.n_inliers, first.n_outliers],
        "table": table.name,
    }
    page.write_text(render("trace.html.j2", context, "imboost_bench.report"), encoding="utf-8")
    return [table, page]


def _by_claim(variants: Sequence[TracedVariant]) -> list[list[tuple[Finding, ...]]]:
    """Return the findings of all variants, those with losses in several scales together."""
    rows = zip(*(variant.findings for variant in variants), strict=True)
    return [list(own) for _, own in groupby(rows, key=lambda row: (row[0].source, row[0].claim))]


def _figures(plain: Reading, scaled: Reading, scaled_each: Reading) -> dict[str, str]:
    """Draw the figures of the page, by name."""
    frame = plain.frame
    spans = {
        phase.name.replace(" warm-up", "\nwarm-up"): (phase.first["update"], phase.last["update"])
        for phase in plain.phases
    }

    def draw(names: dict[str, str], label: str, reading: Reading = plain, **scale: Any) -> str:
        curves = reading.frame[[*names.values()]].set_axis([*names], axis=1)
        return update_curves(curves, spans, label=label, **scale)

    n_samples = plain.trace.detector.n_score_samples
    # Linear up to the largest inlier risk; the outlier risk may be many times larger.
    linear_up_to = float(frame["inlier_risk"].abs().max()) or 1.0
    norms = {
        "inlier risk": "inlier_gradient_norm",
        "outlier risk": "outlier_gradient_norm",
        "largest of a row": "largest_gradient",
    }
    smoothness = {"inlier risk": "inlier_smoothness", "outlier risk": "outlier_smoothness"}
    return {
        "risks": draw(
            _RISKS, f"loss (K = {n_samples})", value="symlog", linthresh=linear_up_to, linscale=2
        ),
        "scaled_risks": draw(_RISKS, f"scaled loss (K = {n_samples})", scaled_each, value="log"),
        "fractions": update_curves(_outlier_fractions(plain), spans, label="outliers, % of rows"),
        "cosine": draw({"cosine": "cosine"}, "cosine of the gradients"),
        "norms": draw(norms, "norm of the gradient", value="log"),
        "smoothness": draw(smoothness, "change of gradient / step", value="log"),
        "dominance": draw({"μ": "dominance"}, "|∇R|² / 2R", scaled, value="log"),
        "margin": draw({"c": "margin"}, "margin c", scaled),
    }


def _outlier_fractions(plain: Reading) -> pd.DataFrame:
    """Return the percentages of outliers by epoch, since a single batch has too few outliers."""
    columns = ["kept_outliers", "kept", "batch_outliers", "batch_size"]
    by_epoch = plain.frame.groupby("epoch")
    totals = by_epoch[columns].sum().set_axis(by_epoch["update"].last())
    kept = 100 * totals["kept_outliers"] / totals["kept"].clip(lower=1)
    drawn = 100 * totals["batch_outliers"] / totals["batch_size"].clip(lower=1)
    all_rows = 100 * plain.trace.contamination
    curves = {"kept by trimming": kept, "in the batch": drawn, "in all training rows": all_rows}
    return pd.DataFrame(curves)


def _phase_row(reading: Reading, phase: Phase) -> dict[str, Any]:
    """Return the row of a phase in the tables of the page."""
    end, updates = phase.last, phase.updates
    is_trimmed = phase.first["phase"] != PhaseKind.PLAIN
    detector = reading.trace.detector
    answers = int(end["answered_inliers"]), int(end["answered_outliers"])
    weights = detector.inlier_weight, detector.outlier_weight
    return {
        "name": phase.name,
        "updates": f"{phase.first['update']} to {end['update']}",
        "answers": f"{answers[0]} + {answers[1]}",
        "imbalance": imbalance(*answers, *weights) if sum(answers) else None,
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
