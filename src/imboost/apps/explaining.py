"""`imboost explain`: why rows score as they do, on the terminal and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from imboost.apps.chosen_rows import BestRows, ChosenRows, find_rows
from imboost.apps.explained_rows import MOST_REASONS, ExplainedRow, how_known, print_rows, shorten
from imboost.apps.model_folder import check_order, load_model
from imboost.apps.progress import stage
from imboost.apps.scoring_files import identifiers, watched
from imboost.apps.streaming import score_pieces
from imboost.apps.terminal import rows, say
from imboost.apps.whole_files import whole
from imboost.data.table_files import TableFiles
from imboost.detectors.table import TableDetector
from imboost.reporting import render


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
