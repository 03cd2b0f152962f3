"""The demo: outliers among handwritten digits, found with a few dozen answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from imboost.cli.options import Seed
from imboost.cli.outputs import write_page

if TYPE_CHECKING:
    from imboost.datasets.dataset import Dataset

N_PICTURES = 20  # highest scores shown before and after the session


@dataclass(frozen=True)
class DemoRound:
    """The rows asked about in a round, and the ranking of all rows after it."""

    round: int
    asked: list[int]
    n_found: int
    auc: float
    ap: float
    n_in_top: int
    top: list[int]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo-report"),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of questions.")] = 5,
    seed: Seed = 0,
) -> None:
    """Run a session on an embedded data set with known labels and write an HTML report."""
    from imboost.datasets.digits import OUTLIER_DIGIT, load_demo

    out.mkdir(parents=True, exist_ok=True)
    dataset = load_demo()
    console = Console()
    console.print(
        f"{dataset.n_rows:,} images of digits, {dataset.n_outliers} of which are {OUTLIER_DIGIT}s "
        "that do not belong. The detector sees a label only after it has asked about the row."
    )
    results = _run_session(dataset, rounds, seed)
    _print_table(console, results, dataset.n_outliers)
    page = out / "index.html"
    write_page(page, "demo.html.j2", _page_context(dataset, results))
    console.print(f"Report: {page}", soft_wrap=True)


def _run_session(dataset: Dataset, rounds: int, seed: int) -> list[DemoRound]:
    import numpy as np
    from sklearn.metrics import average_precision_score, roc_auc_score

    from imboost.detectors import Stack
    from imboost.session import Answer, Oracle, Session, run_rounds

    session = Session(Stack(random_state=seed), dataset.X, random_state=seed)
    results: list[DemoRound] = []
    asked: set[int] = set()
    progress = track(
        run_rounds(session, Oracle(dataset.y), rounds),
        total=rounds + 1,
        description="training and rounds",
        console=Console(stderr=True),
    )
    for number in progress:
        scores = session.detector.decision_scores_
        ranked = np.argsort(-scores)
        answered = set(session.answers)
        result = DemoRound(
            round=number,
            asked=sorted(answered - asked),
            n_found=session.counts[Answer.OUTLIER],
            auc=float(roc_auc_score(dataset.y, scores)),
            ap=float(average_precision_score(dataset.y, scores)),
            n_in_top=int(dataset.y[ranked[: dataset.n_outliers]].sum()),
            top=ranked[:N_PICTURES].tolist(),
        )
        results.append(result)
        asked = answered
    return results


def _print_table(console: Console, results: list[DemoRound], n_outliers: int) -> None:
    from imboost.present.formatting import number

    table = Table()
    in_top = f"outliers in top {n_outliers}"
    for heading in ("round", "answers", "outliers found", "AUC", "AP", in_top):
        table.add_column(heading, justify="right")
    n_answers = 0
    for result in results:
        n_answers += len(result.asked)
        counts = map(str, (result.round, n_answers, result.n_found))
        quality = (number(result.auc, 3), number(result.ap, 3))
        table.add_row(*counts, *quality, str(result.n_in_top))
    console.print(table)


def _page_context(dataset: Dataset, results: list[DemoRound]) -> dict[str, Any]:
    from imboost.datasets.digits import IMAGE_SHAPE, OUTLIER_DIGIT
    from imboost.present.pictures import grey_image, line_chart

    curves = {
        "AUC": [result.auc for result in results],
        "average precision": [result.ap for result in results],
    }
    x_label = "round of questions (0: no answer yet)"
    return {
        "outlier_digit": OUTLIER_DIGIT,
        "n_rows": dataset.n_rows,
        "n_outliers": dataset.n_outliers,
        "n_answers": sum(len(result.asked) for result in results),
        "results": results,
        "is_outlier": dataset.y == 1,
        "picture": lambda row: grey_image(dataset.X[row].reshape(IMAGE_SHAPE)),
        "curves": line_chart(curves, x_label, "ranking quality, all rows"),
    }
