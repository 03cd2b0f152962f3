"""Shared by all figures: colours, empty axes, labels and the conversion to SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

# Okabe and Ito's colour-blind-safe palette, with grey in place of yellow, which is faint on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"]
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")

_STYLE: dict[Any, Any] = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "imboost"}


def marker_style(number: int) -> dict[str, Any]:
    """Return the colour and the marker of a series, by its number."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def dash(number: int) -> str:
    """Return the line style of a series, by its number; colours that repeat have other styles."""
    return DASHES[(number + number // len(COLOURS)) % len(DASHES)]


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, *, share: bool = True
) -> tuple[Any, list[Any]]:
    """Return a figure of a size in inches and its axes, row by row.

    `share` gives all axes the same scales.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, list(grid.flat)


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Label the y axis with one name per row, from top to bottom."""
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def write_beside(axes: Any, text: str, x: float, y: float, distance: float, **style: Any) -> None:
    """Write text at a `distance` in points to the right of a position, or to the left if < 0."""
    align = "left" if distance > 0 else "right"
    axes.annotate(
        text,
        (x, y),
        xytext=(distance, 0),
        textcoords="offset points",
        ha=align,
        va="center",
        annotation_clip=False,
        **style,
    )


def spread(values: Sequence[float], distance: float) -> list[float]:
    """Move values as little as possible so that any two are `distance` apart, in the same order.

    With a multiple of the distance subtracted, this is an isotonic regression.

    >>> spread([1.0, 1.0, 3.0], 0.5)
    [0.75, 1.25, 3.0]
    """
    import numpy as np
    from scipy.optimize import isotonic_regression

    if not len(values):
        return []
    order = np.argsort(values, kind="stable")
    steps = distance * np.arange(len(values))
    moved = np.empty(len(values))
    moved[order] = isotonic_regression(np.asarray(values)[order] - steps).x + steps
    return [float(value) for value in moved]


def to_svg(figure: Any) -> str:
    """Return a figure as deterministic SVG; text is not converted to paths."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context(_STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    text = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # A fixed size in points would not shrink with the page; the view box scales.
    return re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", svg, count=1)
