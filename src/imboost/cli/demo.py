"""The demo: strays among handwritten digits, found with a few dozen answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from imboost.benchmark.run.metrics import quality
from imboost.datasets.dataset import Dataset
from imboost.datasets.digits import IMAGE_SHAPE, STRAY_DIGIT, load_demo
from imboost.detectors import Stack
from imboost.labels import OUTLIER
from imboost.reporting import learning_curves, picture, render
from imboost.session import Answer, Oracle, Session, run_rounds

N_PICTURES = 20


@dataclass(frozen=True)
class Stage:
    """What is known after a round: who was asked, and who scores highest."""

    round: int
    asked: list[int]
    n_found: int
    auc: float
    ap: float
    n_in_top: int
    top: list[int]


def run_demo(out: Path, *, rounds: int, seed: int) -> Path:
    """Play a session with known labels and write its report; return the report's path."""
    out.mkdir(parents=True, exist_ok=True)
    dataset = load_demo()
    console = Console()
    console.print(
        f"{dataset.n_rows:,} pictures of digits; {dataset.n_outliers} of them are stray "
        f"{STRAY_DIGIT}s. The model sees no label until it asks."
    )
    stages = _play(dataset, rounds, seed)
    _print_table(console, stages, dataset)
    page = out / "index.html"
    context = _page_context(dataset, stages)
    page.write_text(render("demo.html.j2", context), encoding="utf-8")
    (out / "curve.svg").write_text(context["curves_svg"], encoding="utf-8")
    console.print(f"Report: {page}", soft_wrap=True)
    return page


def _play(dataset: Dataset, rounds: int, seed: int) -> list[Stage]:
    session = Session(Stack(random_state=seed), dataset.X, random_state=seed)
    stages: list[Stage] = []
    asked: set[int] = set()
    progress = track(
        run_rounds(session, Oracle(dataset.y), rounds),
        total=rounds + 1,
        description="first look and rounds",
        console=Console(stderr=True),
    )
    for number in progress:
        scores = session.detector.decision_scores_
        ranked = np.argsort(-scores)
        auc, ap = quality(dataset.y, scores)
        answered = set(session.answers)
        stages.append(
            Stage(
                round=number,
                asked=sorted(answered - asked),
                n_found=session.counts[Answer.OUTLIER],
                auc=auc,
                ap=ap,
                n_in_top=int((dataset.y[ranked[: dataset.n_outliers]] == OUTLIER).sum()),
                top=ranked[:N_PICTURES].tolist(),
            )
        )
        asked = answered
    return stages


def _print_table(console: Console, stages: list[Stage], dataset: Dataset) -> None:
    table = Table()
    for heading in ("round", "answers", "strays among answers", "AUC", "AP"):
        table.add_column(heading, justify="right")
    table.add_column(f"strays in top {dataset.n_outliers}", justify="right")
    n_answers = 0
    for stage in stages:
        n_answers += len(stage.asked)
        table.add_row(
            str(stage.round),
            str(n_answers),
            str(stage.n_found),
            f"{stage.auc:.3f}",
            f"{stage.ap:.3f}",
            str(stage.n_in_top),
        )
    console.print(table)


def _page_context(dataset: Dataset, stages: list[Stage]) -> dict[str, Any]:
    first, last = stages[0], stages[-1]
    shown = {row for stage in (first, last) for row in stage.top}
    shown |= {row for stage in stages for row in stage.asked}
    curves = {
        "AUC": {stage.round: stage.auc for stage in stages},
        "average precision": {stage.round: stage.ap for stage in stages},
    }
    return {
        "stray": STRAY_DIGIT,
        "n_rows": dataset.n_rows,
        "n_outliers": dataset.n_outliers,
        "n_answers": sum(len(stage.asked) for stage in stages),
        "stages": stages,
        "first": first,
        "last": last,
        "is_outlier": (dataset.y == OUTLIER).tolist(),
        "pictures": {row: _digit(dataset.X[row]) for row in shown},
        "curves_svg": learning_curves(curves, label="ranking quality, all rows"),
    }


def _digit(pixels: NDArray[Any]) -> str:
    return picture(pixels.reshape(IMAGE_SHAPE))
