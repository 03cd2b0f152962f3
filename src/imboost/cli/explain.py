"""`imboost explain`: why rows score as they do, on the terminal and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from imboost.cli.console import rows, say
from imboost.cli.explained_rows import MOST_REASONS, ExplainedRow, how_known, print_rows, shorten
from imboost.cli.model_folder import check_order, load_model
from imboost.cli.progress import stage
from imboost.cli.score import identifiers, watched
from imboost.detectors.table_detector import TableDetector
from imboost.persistence.atomic_file import whole
from imboost.reporting import render
from imboost.scoring.row_selection import BestRows, ChosenRows, find_rows
from imboost.scoring.streaming import score_pieces
from imboost.tables.files import TableFiles


def explain_file(
    model: Path, data: Path, *, rows: Sequence[str], top: int, out: Path | None
) -> None:
    """Explain the rows asked for, or those with the highest scores."""
    check_order(model, data)
    files = TableFiles.find(data)
    detector = load_model(model)
    names = identifiers(detector)
    identifier = names[0] if names else None
    if rows:
        with stage(f"looking for rows in {data}"):
            chosen = find_rows(files, identifier, rows)
    else:
        chosen = _highest_scores(detector, files, top)
    explained = explain_rows(detector, chosen, identifier)
    print_rows(explained, detector.threshold_)
    if out is not None:
        context = {
            "rows": explained,
            "threshold": detector.threshold_,
            "data": data.name,
            "n_reasons": MOST_REASONS,
            "shorten": shorten,
            "how_known": how_known(explained[0]),
        }
        with whole(out) as partial:
            partial.write_text(render("explain.html.j2", context), encoding="utf-8")
        say(f"Page: {out}")


def explain_rows(
    detector: TableDetector, chosen: ChosenRows, identifier: str | None
) -> list[ExplainedRow]:
    """Explain a few rows, in their order."""
    with stage(f"explaining {rows(len(chosen.numbers))}"):
        explanations = detector.explain(chosen.table)
    return [
        ExplainedRow(name, bool(told.score > detector.threshold_), told)
        for name, told in zip(chosen.names(identifier), explanations, strict=True)
    ]


def _highest_scores(detector: TableDetector, files: TableFiles, n: int) -> ChosenRows:
    best = BestRows(n)
    for piece in watched(score_pieces(detector, files), files.n_rows):
        best.add(piece.first, piece.table, piece.verdicts.scores)
    return best.chosen()
