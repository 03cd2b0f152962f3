"""Charts that compare methods: means, intervals, ranks, settings and times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from imboost_bench.report.canvas import marker_style, name_rows, new_figure, to_svg, write_beside

_GREY = "#777777"
# Style of reference values.
_RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 8,
    "markerfacecolor": "none",
    "color": _GREY,
}


@dataclass(frozen=True)
class Mark:
    """A value with its spread, as one row of a chart.

    Parameters
    ----------
    name : str
    value : float
    low, high : float
        Ends of the line through the value; no line if NaN.
    family : str
        Determines colour and marker.
    reference : float
        A reference value, drawn as a ring; none if NaN.
    is_filled : bool
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    family: str = ""
    reference: float = math.nan
    is_filled: bool = True


def dot_plot(
    marks: Sequence[Mark], families: Sequence[str], *, label: str, zero: bool = False
) -> str:
    """Draw one labelled point per method, coloured by family; `zero` adds a line at 0."""
    from matplotlib.lines import Line2D

    figure, [axes] = new_figure(7.6, 0.21 * len(marks) + 1.1)
    if zero:
        axes.axvline(0, color="black", linewidth=0.8)
    styles = {family: marker_style(number) for number, family in enumerate(families)}
    name_rows(axes, [mark.name for mark in marks])
    for row, (mark, tick) in enumerate(zip(marks, axes.get_yticklabels(), strict=True)):
        style = styles[mark.family]
        axes.plot([mark.low, mark.high], [row, row], color=style["color"], linewidth=1.6)
        fill = style["color"] if mark.is_filled else "white"
        axes.plot([mark.value], [row], **style, markersize=6, markerfacecolor=fill)
        axes.plot([mark.reference], [row], **_RING)
        tick.set_color(style["color"])
    axes.set_xlabel(label)
    found = {mark.family for mark in marks}
    shown = {family: style for family, style in styles.items() if family in found}
    if not all(math.isnan(mark.reference) for mark in marks):
        shown["the paper's value"] = _RING
    if len(shown) > 1:
        handles = [Line2D([], [], linestyle="", label=name, **shown[name]) for name in shown]
        figure.legend(handles=handles, frameon=False, loc="outside right upper", fontsize=9)
    return to_svg(figure)


def critical_difference_diagram(
    ranks: Mapping[str, float], cliques: Sequence[tuple[float, float]], critical: float
) -> str:
    """Draw a critical difference diagram: mean ranks, with bars over methods that do not differ.

    Parameters
    ----------
    ranks : mapping
        Mean rank by name; 1 is best and on the left.
    cliques : sequence of tuple
        First and last rank of every clique: methods that do not differ, under one bar.
    critical : float
        The critical difference, drawn to scale.
    """
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    half = -(-len(ordered) // 2)
    lowest, highest = 1, len(ordered)
    step, first = 0.2, 0.25 + 0.1 * len(cliques)  # inches between names; from axis to first name
    depth = first + step * half
    figure, [axes] = new_figure(8.4, depth + 0.75)
    figure.set_layout_engine("none")
    longest = max(map(len, ranks)) + 5  # characters of a name with its rank
    margin = min(max(0.2, longest * 0.062 / 8.4), 0.4)  # 0.062 inches per character
    axes.set_position((margin, 0, 1 - 2 * margin, 1))
    axes.axis("off")
    axes.set_xlim(lowest, highest)
    axes.set_ylim(-depth, 0.75)

    def draw(x: list[float], y: list[float], width: float, color: str = "black") -> None:
        axes.plot(x, y, color=color, linewidth=width, clip_on=False)

    draw([lowest, highest], [0, 0], 1)
    for tick in range(lowest, highest + 1):
        draw([tick, tick], [0, 0.06], 1)
        axes.text(tick, 0.1, str(tick), ha="center", va="bottom", fontsize=8)
    if critical <= highest - lowest:
        draw([lowest, lowest + critical], [0.45, 0.45], 2)
    axes.text(lowest, 0.52, f"critical difference {critical:.2f}", fontsize=8)
    for number, (start, end) in enumerate(cliques):
        y = -0.1 - 0.1 * number
        draw([start, end], [y, y], 3)
    # The outermost names are highest, so that lines to names on one side do not cross.
    for number, (name, rank) in enumerate(ordered):
        is_left = number < half
        y = -(first + step * (number if is_left else len(ordered) - 1 - number))
        edge = lowest if is_left else highest
        draw([rank, rank, edge], [0, y, y], 0.7, _GREY)
        text = f"{name}  {rank:.1f}" if is_left else f"{rank:.1f}  {name}"
        write_beside(axes, text, edge, y, -4 if is_left else 4, fontsize=8)
    return to_svg(figure)


@dataclass(frozen=True)
class Panel:
    """One setting: values by name, reference values and the default."""

    title: str
    values: Mapping[str, float]
    reference: Mapping[str, float] = field(default_factory=dict)
    default: str = ""


def setting_panels(
    panels: Sequence[Panel], ratios: Panel | None, *, label: str, columns: int = 3
) -> str:
    """Draw a small panel for each setting, and one for `ratios`."""
    n_panels = len(panels) + (ratios is not None)
    columns = min(columns, n_panels)
    rows = -(-n_panels // columns)
    # Leave room for the names of methods next to their panel.
    longest = max((len(name) for name in ratios.values), default=0) if ratios else 0
    width = max(2.9, 1.6 + 0.085 * longest) if n_panels == 1 else 2.9
    figure, axes_list = new_figure(width * columns, 2.5 * rows + 0.3, rows, columns, share=False)
    values = [v for panel in panels for v in (*panel.values.values(), *panel.reference.values())]
    for axes, panel in zip(axes_list, panels, strict=False):
        _draw_setting(axes, panel)
        margin = 0.06 * (max(values) - min(values)) or 0.01
        axes.set_ylim(min(values) - margin, max(values) + margin)
    for axes in axes_list[: len(panels) : columns]:
        axes.set_ylabel(label)
    if ratios is not None:
        _draw_ratios(axes_list[len(panels)], ratios)
    for axes in axes_list[n_panels:]:
        axes.set_visible(False)
    return to_svg(figure)


def _draw_setting(axes: Any, panel: Panel) -> None:
    """Draw values over evenly spaced settings, with a grey band at the default."""
    names = list(dict.fromkeys([*panel.reference, *panel.values]))
    names.sort(key=float)
    if panel.default in names:
        axes.axvline(names.index(panel.default), color="#cccccc", linewidth=6, zorder=0)
    for values, style in (
        (panel.reference, {"color": _GREY, "linestyle": "--", "markerfacecolor": "white"}),
        (panel.values, {"color": marker_style(0)["color"], "linestyle": "-"}),
    ):
        known = [name for name in names if name in values]
        positions = [names.index(name) for name in known]
        axes.plot(positions, [values[name] for name in known], marker="o", markersize=5, **style)
    axes.set_xticks(range(len(names)), names)
    axes.set_title(panel.title, loc="left", fontsize=10)


def _draw_ratios(axes: Any, panel: Panel) -> None:
    """Draw ratios as lines from 1, on a logarithmic scale."""
    from matplotlib.ticker import LogLocator

    colour = marker_style(0)["color"]
    for row, (name, ratio) in enumerate(panel.values.items()):
        axes.plot([1, ratio], [row, row], color=colour, linewidth=1.6)
        axes.plot([ratio], [row], "o", color=colour, markersize=5)
        if name in panel.reference:
            axes.plot([panel.reference[name]], [row], **_RING)
    values = [1.0, *panel.values.values(), *panel.reference.values()]
    axes.set_xscale("log", subs=[])  # no minor ticks
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(min(values) / 1.4, max(values) * 1.4)
    axes.axvline(1, color="black", linewidth=0.8)
    name_rows(axes, [f"{name}  {ratio:.2f}" for name, ratio in panel.values.items()])
    axes.set_title(panel.title, loc="left", fontsize=10)
