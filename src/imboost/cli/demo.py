"""The demo: outliers among handwritten digits, found with a few dozen answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import track

from imboost.cli.console import print_table, say, write_text
from imboost.cli.options import Seed
from imboost.present.formatting import number

if TYPE_CHECKING:
    from imboost.datasets.dataset import Dataset

N_PICTURES = 20  # highest scores shown before and after the session


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo-report"),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of questions.")] = 5,
    seed: Seed = 0,
) -> None:
    """Run a session on an embedded data set with known labels and write an HTML report."""
    from imboost.datasets.dataset import IMAGE_SHAPE, OUTLIER_DIGIT, load_demo
    from imboost.present.pages import render
    from imboost.present.pictures import grey_image, line_chart

    out.mkdir(parents=True, exist_ok=True)
    dataset = load_demo()
    say(
        f"{dataset.n_rows:,} images of digits, {dataset.n_outliers} of which are {OUTLIER_DIGIT}s "
        "that do not belong. The detector sees a label only after it has asked about the row."
    )
    results = _run_session(dataset, rounds, seed)
    in_top = f"outliers in top {dataset.n_outliers}"
    headings = ("round", "answers", "outliers found", "AUC", "AP", in_top)
    lines = []
    for one in results:
        counts = map(str, (one.round, one.n_answers, one.n_found))
        lines.append([*counts, number(one.auc, 3), number(one.ap, 3), str(one.n_in_top)])
    print_table("", headings, lines, right=headings)
    curves = {
        "AUC": [result.auc for result in results],
        "average precision": [result.ap for result in results],
    }
    x_label = "round of questions (0: no answer yet)"
    context = {
        "outlier_digit": OUTLIER_DIGIT,
        "n_rows": dataset.n_rows,
        "n_outliers": dataset.n_outliers,
        "n_answers": results[-1].n_answers,
        "results": results,
        "is_outlier": dataset.y == 1,
        "picture": lambda row: grey_image(dataset.X[row].reshape(IMAGE_SHAPE)),
        "curves": line_chart(curves, x_label, "ranking quality, all rows"),
    }
    page = out / "index.html"
    write_text(page, render("demo.html.j2", context))
    say(f"Report: {page}")


def _run_session(dataset: Dataset, rounds: int, seed: int) -> list[SimpleNamespace]:
    """Return the answers of each round, and the ranking of all rows after it."""
    import numpy as np
    from sklearn.metrics import average_precision_score, roc_auc_score

    from imboost.detectors import Stack
    from imboost.session import Answer, Oracle, Session, run_rounds

    session = Session(Stack(random_state=seed), dataset.X, random_state=seed)
    results: list[SimpleNamespace] = []
    asked: set[int] = set()
    for round_number in track(
        run_rounds(session, Oracle(dataset.y), rounds),
        total=rounds + 1,
        description="training and rounds",
        console=Console(stderr=True),
    ):
        scores, answered = session.detector.decision_scores_, set(session.answers)
        ranked = np.argsort(-scores)
        result = SimpleNamespace(
            round=round_number,
            asked=sorted(answered - asked),
            n_answers=len(answered),
            n_found=session.counts[Answer.OUTLIER],
            auc=float(roc_auc_score(dataset.y, scores)),
            ap=float(average_precision_score(dataset.y, scores)),
            n_in_top=int(dataset.y[ranked[: dataset.n_outliers]].sum()),
            top=ranked[:N_PICTURES].tolist(),
        )
        results.append(result)
        asked = answered
    return results
