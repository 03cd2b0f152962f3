"""A trace on disk: every update as a line of a CSV file, and a page that says what it shows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from imboost.benchmark.trace.findings import Verdict
from imboost.benchmark.trace.phases import (
    Stage,
    inlier_risk_fell,
    is_opposed,
    kept_outlier_share,
    outlier_risk_rose,
    risks_parted,
    share_of_outliers_kept,
    stages_of,
)
from imboost.benchmark.trace.recording import MAX_WATCHED, Phase, Trace, Update
from imboost.reporting import render, update_curves


def write_trace(trace: Trace, verdicts: Sequence[Verdict], folder: Path) -> list[Path]:
    """Write ``trace_DATASET.csv`` and ``trace_DATASET.html`` into `folder`; return both."""
    name = f"trace_{trace.spec.dataset.replace('/', '_')}"
    table, page = folder / f"{name}.csv", folder / f"{name}.html"
    with table.open("w", newline="", encoding="utf-8") as file:
        lines = [_line(update) for update in trace.updates]
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    page.write_text(_page(trace, verdicts, table.name), encoding="utf-8")
    return [table, page]


def _line(update: Update) -> dict[str, Any]:
    values = {**asdict(update), "cosine": update.cosine}
    return {
        name: f"{value:.9g}" if isinstance(value, float) else value
        for name, value in values.items()
    }


def _page(trace: Trace, verdicts: Sequence[Verdict], table: str) -> str:
    stages = stages_of(trace)
    marks = {
        stage.name.replace(" warm-up", "\nwarm-up"): (stage.first.update, stage.last.update)
        for stage in stages
    }
    n_watched = (min(trace.n_inliers, MAX_WATCHED), min(trace.n_outliers, MAX_WATCHED))
    context = {
        "trace": trace,
        "last": trace.updates[-1],
        "verdicts": verdicts,
        "rows": [_stage_row(stage) for stage in stages],
        "n_watched": n_watched,
        "is_sampled": n_watched != (trace.n_inliers, trace.n_outliers),
        "table": table,
        "risks_svg": _risks(trace, marks),
        "shares_svg": _shares(trace, marks),
        "cosine_svg": update_curves(
            {"cosine": _by_update(trace, lambda update: update.cosine)},
            marks,
            label="cosine of the gradients",
        ),
        "norms_svg": update_curves(
            {
                "inlier risk": _by_update(trace, lambda update: update.inlier_gradient_norm),
                "outlier risk": _by_update(trace, lambda update: update.outlier_gradient_norm),
            },
            marks,
            label="norm of the gradient",
            scale="log",
        ),
    }
    return render("trace.html.j2", context)


def _risks(trace: Trace, marks: dict[str, tuple[int, int]]) -> str:
    return update_curves(
        {
            "inliers, mean": _by_update(trace, lambda update: update.inlier_risk),
            "outliers, mean": _by_update(trace, lambda update: update.outlier_risk),
            "inliers, median": _by_update(trace, lambda update: update.inlier_median),
            "outliers, median": _by_update(trace, lambda update: update.outlier_median),
        },
        marks,
        label="loss",
        scale="symlog",
        # Inliers on a linear scale; what outliers reach may be many times that.
        linear_up_to=max(abs(update.inlier_risk) for update in trace.updates) or 1.0,
    )


def _shares(trace: Trace, marks: dict[str, tuple[int, int]]) -> str:
    """Draw the outliers' shares epoch by epoch: single batches hold too few of them."""
    inside: dict[int, float] = {}
    drawn: dict[int, float] = {}
    for _, group in groupby(trace.updates, lambda update: update.epoch):
        updates = list(group)
        where = updates[-1].update
        inside[where] = 100 * kept_outlier_share(updates)
        n_rows = sum(update.batch_size for update in updates)
        drawn[where] = 100 * sum(update.batch_outliers for update in updates) / max(n_rows, 1)
    whole = dict.fromkeys(inside, 100 * trace.outlier_share)
    return update_curves(
        {"inside the loss": inside, "in the batch": drawn, "in all training rows": whole},
        marks,
        label="share of outliers, %",
    )


def _by_update(trace: Trace, value_of: Callable[[Update], float]) -> dict[int, float]:
    return {update.update: value_of(update) for update in trace.updates}


def _stage_row(stage: Stage) -> dict[str, Any]:
    """Return the cells of a stage in the table of the page; shares in per cent."""
    start, end = stage.before, stage.last
    is_trimmed = stage.first.phase is not Phase.PLAIN
    return {
        "name": stage.name,
        "updates": f"{stage.first.update} to {end.update}",
        "answers": f"{end.answered_inliers} + {end.answered_outliers}",
        "start": start,
        "end": end,
        "fell": 100 * stage.share_of_changes(inlier_risk_fell),
        "rose": 100 * stage.share_of_changes(outlier_risk_rose),
        "both": 100 * stage.share_of_changes(risks_parted),
        "kept": 100 * share_of_outliers_kept(stage.updates) if is_trimmed else None,
        "inside": 100 * kept_outlier_share(stage.updates),
        "opposed": 100 * stage.share(is_opposed),
        "cosine": sum(update.cosine for update in stage.updates) / len(stage.updates),
    }
