"""What all figures share: palette, empty axes, and SVG text that scales with its page."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#000000",
    "#999999",
)
"""Okabe and Ito's palette, told apart by colour-blind readers too; grey in place of its yellow,
which is faint on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")

_STYLE: dict[Any, Any] = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "imboost"}


def look(number: int) -> dict[str, Any]:
    """Return the colour and the marker of the `number`-th thing in a figure."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def dash(number: int) -> str:
    """Return the dashes of the `number`-th line; others where the colours start anew."""
    return DASHES[(number + number // len(COLOURS)) % len(DASHES)]


def new_figure(width: float, height: float) -> tuple[Any, Any]:
    """Return a figure, measured in inches, and its only axes."""
    figure, axes_list = new_grid(width, height, 1, 1)
    return figure, axes_list[0]


def new_grid(
    width: float, height: float, rows: int, columns: int, *, share: bool = True
) -> tuple[Any, list[Any]]:
    """Return a figure and its axes, row by row, all on the same scales if they `share` them."""
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
    """Write one name a row beside axes that are read from top to bottom."""
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def label_ends(axes: Any, ends: Mapping[str, tuple[float, float, str]]) -> None:
    """Write names at the ends of lines, pushed apart where they would overlap.

    Parameters
    ----------
    axes : Axes
        Its limits are settled.
    ends : mapping
        Where each line ends, across and up, and its colour.
    """
    low, high = axes.get_ylim()
    heights = spread([up for _, up, _ in ends.values()], gap=0.07 * (high - low))
    right = max((across for across, _, _ in ends.values()), default=0.0)
    for (name, (_, _, colour)), height in zip(ends.items(), heights, strict=True):
        axes.annotate(
            name,
            (right, height),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=9,
            annotation_clip=False,
        )


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Move values as little as need be for any two to be `gap` apart, in the same order.

    >>> spread([1.0, 1.0, 3.0], 0.5)
    [0.75, 1.25, 3.0]
    """
    order = sorted(range(len(values)), key=lambda number: values[number])
    # Neighbours that are too close form a block around the mean of their wishes.
    blocks: list[list[float]] = []
    for number in order:
        blocks.append([values[number]])
        while len(blocks) > 1 and _bottom(blocks[-1], gap) < _top(blocks[-2], gap) + gap:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    placed = [_bottom(block, gap) + gap * place for block in blocks for place in range(len(block))]
    moved = [0.0] * len(values)
    for number, value in zip(order, placed, strict=True):
        moved[number] = value
    return moved


def _bottom(block: Sequence[float], gap: float) -> float:
    return sum(block) / len(block) - gap * (len(block) - 1) / 2


def _top(block: Sequence[float], gap: float) -> float:
    return sum(block) / len(block) + gap * (len(block) - 1) / 2


def to_svg(figure: Any) -> str:
    """Return a figure as SVG text with its words as words, the same text every time."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context(_STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    svg = text[text.index("<svg") :]
    # A fixed size in points would not shrink with the page; the view box scales.
    return re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", svg, count=1)
