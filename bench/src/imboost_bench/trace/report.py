"""Write the traces of all variants as a CSV file, and an HTML page with the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from imboost.present.pages import render
from imboost_bench.report.charts import update_curves
from imboost_bench.trace.claims import (
    AS_THEY_ARE,
    SCALED,
    SCALED_EACH,
    SMOOTHNESS,
    Finding,
    Reading,
)
from imboost_bench.trace.recording import MAX_MEASURED_ROWS, Trace

_RISKS = {
    "inliers, mean": "inlier_risk",
    "outliers, mean": "outlier_risk",
    "inliers, median": "inlier_median",
    "outliers, median": "outlier_median",
}
_NORMS = {
    "inlier risk": "inlier_gradient_norm",
    "outlier risk": "outlier_gradient_norm",
    "largest of a row": "largest_gradient",
}
_OF_RISKS = dict(zip(["inlier risk", "outlier risk"], SMOOTHNESS, strict=True))
_LOG = {"value": "log"}

# Columns, label, scale of the axis and scale of the losses of each figure.
_FIGURES: dict[str, tuple[dict[str, str], str, dict[str, Any], str]] = {
    "risks": (_RISKS, "loss (K = {k})", {"value": "symlog", "linscale": 2}, AS_THEY_ARE),
    "scaled_risks": (_RISKS, "scaled loss (K = {k})", _LOG, SCALED_EACH),
    "cosine": ({"cosine": "cosine"}, "cosine of the gradients", {}, AS_THEY_ARE),
    "norms": (_NORMS, "norm of the gradient", _LOG, AS_THEY_ARE),
    "smoothness": (_OF_RISKS, "change of gradient / step", _LOG, AS_THEY_ARE),
    "dominance": ({"μ": "dominance"}, "|∇R|² / 2R", _LOG, SCALED),
    "margin": ({"c": "margin"}, "margin c", {}, SCALED),
}


def write_traces(
    traces: Mapping[str, Trace], findings: Mapping[str, Sequence[Finding]], folder: Path
) -> list[Path]:
    """Write ``trace_DATASET.csv`` and ``trace_DATASET.html`` into `folder`; return both."""
    first = next(iter(traces.values()))
    name = f"trace_{first.spec.dataset.replace('/', '_')}"
    table, page = folder / f"{name}.csv", folder / f"{name}.html"
    columns = [*first.updates, "cosine"]
    plain = {name: Reading(trace) for name, trace in traces.items()}
    frames = pd.concat(
        {name: own.frame[columns] for name, own in plain.items()}, names=["variant"]
    )
    frames.droplevel(1).to_csv(table, float_format="%.9g")
    rows = zip(*findings.values(), strict=True)
    measured = [min(n, MAX_MEASURED_ROWS) for n in (first.n_inliers, first.n_outliers)]
    context = {
        "trace": first,
        "detector": first.detector,
        "variants": [
            {"name": name, "trace": own.trace, "figures": _figures(own)}
            for name, own in plain.items()
        ],
        # Findings about one claim with losses in several scales are together.
        "claims": [list(own) for _, own in groupby(rows, key=lambda row: row[0][:2])],
        "n_measured": measured,
        "is_sampled": measured != [first.n_inliers, first.n_outliers],
        "table": table.name,
    }
    html = render("trace.html.j2", context, "imboost_bench.report")
    page.write_text(html, encoding="utf-8")
    return [table, page]


def _figures(plain: Reading) -> dict[str, str]:
    """Draw the figures of the page, by name."""
    spans = {
        name.replace(" warm-up", "\nwarm-up"): (phase.first["update"], phase.last["update"])
        for name, phase in plain.phases.items()
    }
    figures = {}
    for figure, (names, label, scale, losses) in _FIGURES.items():
        frame = Reading(plain.trace, losses).frame
        curves = frame[[*names.values()]].set_axis([*names], axis=1)
        if figure == "risks":
            # Linear up to the largest inlier risk; the outlier risk may be many times larger.
            scale = scale | {"linthresh": float(frame["inlier_risk"].abs().max()) or 1.0}
        label = label.format(k=plain.trace.detector.n_score_samples)
        figures[figure] = update_curves(curves, spans, label=label, **scale)
    shares = update_curves(_outlier_fractions(plain), spans, label="outliers, % of rows")
    return figures | {"fractions": shares}


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
