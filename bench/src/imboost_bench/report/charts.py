"""Charts as SVG: rows of points, curves over rounds or updates, and small panels of curves."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

# Okabe and Ito's colour-blind-safe palette, with grey in place of yellow, which is faint on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"]
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")

_STYLE: dict[Any, Any] = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "imboost"}
_RING: dict[str, Any] = {"marker": "o", "markersize": 8, "mfc": "none", "color": "#777777"}


def marker_style(number: int) -> dict[str, Any]:
    """Return the colour and the marker of a series, by its number."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def dash(number: int) -> str:
    """Return the line style of a series, by its number; colours that repeat have other styles."""
    return DASHES[(number + number // len(COLOURS)) % len(DASHES)]


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1
) -> tuple[Any, list[Any]]:
    """Return a figure of a size in inches, and its axes, row by row."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, list(grid.flat)


def to_svg(figure: Any) -> str:
    """Return a figure as deterministic SVG that scales; text is not converted to paths."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context(_STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    text = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", svg, count=1)


def dot_plot(marks: DataFrame, *, label: str, origin: float | None = None) -> str:
    """Draw a named point per row of a frame, in the style of its family.

    The columns are value; low and high, the ends of the line through it; family and `style`, its
    number; reference, drawn as a ring; and is_filled, whether the marker is. What is NaN is not
    drawn. `origin` is a value with a vertical line.
    """
    from matplotlib.lines import Line2D

    figure, [axes] = new_figure(7.6, 0.21 * len(marks) + 1.1)
    if origin is not None:
        axes.axvline(origin, color="black", linewidth=0.8)
    axes.set_yticks(range(len(marks)), marks.index, fontsize=8)
    axes.set_ylim(len(marks) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    for row, mark in enumerate(marks.itertuples()):
        style = marker_style(mark.style)
        fill = style["color"] if mark.is_filled else "white"
        axes.plot([mark.low, mark.high], [row, row], color=style["color"], linewidth=1.6)
        axes.plot([mark.value], [row], **style, markersize=6, markerfacecolor=fill)
        axes.plot([mark.reference], [row], **_RING)
        axes.get_yticklabels()[row].set_color(style["color"])
    axes.set_xlabel(label)
    families = marks.groupby("style")["family"].first()
    legend = {family: marker_style(number) for number, family in families.items()}
    legend |= {"the paper's value": _RING} if marks["reference"].notna().any() else {}
    if len(legend) > 1:
        handles = [Line2D([], [], linestyle="", label=name, **own) for name, own in legend.items()]
        figure.legend(handles=handles, frameon=False, loc="outside right upper", fontsize=9)
    return to_svg(figure)


def curve_panels(
    panels: Mapping[str, DataFrame],
    *,
    label: str,
    x_label: str = "",
    references: Mapping[str, DataFrame] | None = None,
    styles: Mapping[str, int] | None = None,
    columns: int = 3,
) -> str:
    """Draw the columns of frames as curves, a panel per frame, all on one scale.

    The rows of a frame are evenly spaced, and labelled by the index. `references` are curves with
    the same rows, thin and with hollow markers; `styles` the numbers of the colour, marker and
    dash of each curve, by default its position; `columns` the panels in a row.
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    size = (6.4, 3.6) if len(panels) == 1 else (2.6 * columns, 1.9 * rows + 0.5)
    figure, grid = new_figure(*size, rows, columns)
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    styles = styles or {name: number for number, name in enumerate(names)}
    hollow = {"markerfacecolor": "white", "linewidth": 0.8, "linestyle": "--"}
    lines = {}
    for axes, (title, curves) in zip(grid, panels.items(), strict=False):
        reference = (references or {}).get(title, curves.iloc[:, :0])
        drawn = [(name, reference[name], hollow) for name in reference]
        drawn += [(name, curves[name], {"linestyle": dash(styles[name])}) for name in curves]
        for name, curve, style in drawn:
            known = curve.reset_index(drop=True).dropna()
            style = marker_style(styles[name]) | {"markersize": 4} | style
            [lines[name]] = axes.plot(known.index, known, **style)
        ticks = range(0, len(curves), -(-len(curves) // 12))
        axes.set_xticks(ticks, [str(curves.index[tick]) for tick in ticks])
        axes.set_title(title, fontsize=9, loc="left")
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel(x_label, fontsize=10)
    figure.supylabel(label, fontsize=10)
    if len(names) > 1:
        place = "right upper" if len(panels) == 1 else "lower center"
        n_columns = 1 if len(panels) == 1 else columns
        ordered = [lines[name] for name in names]
        legend = {"frameon": False, "fontsize": 9, "ncols": n_columns}
        figure.legend(ordered, names, loc=f"outside {place}", **legend)
    return to_svg(figure)


def update_curves(
    curves: DataFrame, phases: Mapping[str, tuple[int, int]], *, label: str, **scale: Any
) -> str:
    """Draw the columns of a frame over the updates of a training run, with its phases marked.

    `phases` are the first and the last update of each, by name; `scale` is that of the y axis, as
    in `matplotlib.axes.Axes.set_yscale`.
    """
    figure, [axes] = new_figure(6.8, 3.4)
    for number, (name, curve) in enumerate(curves.items()):
        style = {"color": COLOURS[number], "linestyle": dash(number), "linewidth": 1.6}
        axes.plot(curve.index, curve, label=name, **style)
    if scale:
        axes.set_yscale(**scale)
        _set_round_ticks(axes)
    if curves.min(axis=None) < 0 < curves.max(axis=None):
        axes.axhline(0, color="black", linewidth=0.8)
    top = axes.get_xaxis_transform()  # x in updates, y as a fraction of the height
    for name, (first, last) in phases.items():
        axes.axvline(first - 0.5, color="#777777", linewidth=0.8)
        axes.text((first + last) / 2, 1.02, name, transform=top, ha="center", fontsize=8)
    axes.set_xlim(0.5, max(last for _, last in phases.values()) + 0.5)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("update")
    axes.set_ylabel(label)
    if len(curves.columns) > 1:
        # Four names are wider than the figure.
        n_columns = 2 if len(curves.columns) > 3 else 3
        legend = {"frameon": False, "ncols": n_columns, "handlelength": 3}
        figure.legend(loc="outside lower center", **legend)
    return to_svg(figure)


def _set_round_ticks(axes: Any) -> None:
    """Label a scale that is not linear at about evenly spaced round numbers."""
    import numpy as np

    scale, (low, high) = axes.yaxis.get_transform(), axes.get_ylim()
    start, end = scale.transform([low, high])
    places = np.linspace(start, end, 8)
    rounded = {float(f"{value:.1g}") for value in scale.inverted().transform(places)}
    ticks = sorted(tick for tick in rounded if low <= tick <= high)
    axes.set_yticks(ticks, [f"{tick:,g}" for tick in ticks])
    axes.minorticks_off()
