"""Figures as SVG text: readable without colour, small enough to sit inside a page."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's palette, told apart by colour-blind readers too."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")

Curves = Mapping[str, Mapping[int, float]]
"""A value by round, for every name in the legend."""


def learning_curves(curves: Curves, *, label: str, title: str = "") -> str:
    """Draw one line per name over the rounds."""
    figure, axes = _new_figure(6.4, 3.6)
    _draw_curves(axes, curves, list(curves))
    axes.set_xlabel("round of questions (0: no answer yet)")
    axes.set_ylabel(label)
    if title:
        axes.set_title(title, loc="left", fontweight="bold")
    if len(curves) > 1:
        figure.legend(frameon=False, loc="outside right upper")  # beside, not over, the curves
    return _to_svg(figure)


def small_multiples(panels: Mapping[str, Curves], *, label: str, columns: int = 4) -> str:
    """Draw one small panel of curves per data set, all on the same scale."""
    rows = -(-len(panels) // columns)
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    values = [value for curves in panels.values() for c in curves.values() for value in c.values()]
    lowest = min([0.5, *values])
    figure, axes_list = _new_grid(2.4 * columns, 1.7 * rows + 0.5, rows, columns)
    for axes, (name, curves) in zip(axes_list, panels.items(), strict=False):
        _draw_curves(axes, curves, names, small=True)
        axes.set_title(name, fontsize=9, loc="left")
        axes.set_ylim(lowest - 0.02, 1.02)
    for axes in axes_list[len(panels) :]:
        axes.set_visible(False)
    figure.supylabel(label, fontsize=9)
    if len(names) > 1:
        lines = {line.get_label(): line for axes in axes_list for line in axes.lines}
        handles = [lines[name] for name in names]
        figure.legend(handles, names, frameon=False, loc="outside upper right", ncols=4)
    return _to_svg(figure)


def difference_bars(names: Sequence[str], differences: Sequence[float], *, label: str) -> str:
    """Draw signed differences as horizontal bars around zero."""
    figure, axes = _new_figure(6.4, 0.22 * len(names) + 0.9)
    colours = [COLOURS[0] if value >= 0 else COLOURS[1] for value in differences]
    axes.barh(range(len(names)), differences, color=colours, height=0.7)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.grid(axis="y", visible=False)
    return _to_svg(figure)


def picture(pixels: NDArray[Any]) -> str:
    """Return a grey picture, dark ink on white, as a data address for an HTML image."""
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, pixels, cmap="gray_r", format="png")
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode("ascii")


def _draw_curves(axes: Any, curves: Curves, names: Sequence[str], *, small: bool = False) -> None:
    """Draw curves, each in the look that belongs to its place in `names`."""
    for name, curve in curves.items():
        number = names.index(name)
        axes.plot(
            list(curve),
            list(curve.values()),
            label=name,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            linestyle=DASHES[number % len(DASHES)],
            markersize=3 if small else 5,
            linewidth=1.2 if small else 1.8,
        )
    rounds = sorted({number for curve in curves.values() for number in curve})
    if len(rounds) <= 12:
        axes.set_xticks(rounds)


def _new_figure(width: float, height: float) -> tuple[Any, Any]:
    figure, axes_list = _new_grid(width, height, 1, 1)
    return figure, axes_list[0]


def _new_grid(width: float, height: float, rows: int, columns: int) -> tuple[Any, list[Any]]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "imboost"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, list(grid.flat)


def _to_svg(figure: Any) -> str:
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "imboost"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    svg = text[text.index("<svg") :]
    # A fixed size in points would not shrink with the page; the view box scales.
    return re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", svg, count=1)
