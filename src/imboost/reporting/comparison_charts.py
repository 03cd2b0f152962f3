"""Charts that compare methods: means, intervals, ranks, settings and times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from imboost.reporting.canvas import marker_style, name_rows, new_figure, new_grid, to_svg

_GREY = "#777777"
_RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 8,
    "markerfacecolor": "none",
    "color": _GREY,
}
"""Style of reference values."""


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
    reference : float, optional
        A reference value, drawn as a ring.
    is_filled : bool
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    family: str = ""
    reference: float | None = None
    is_filled: bool = True


def dot_plot(
    marks: Sequence[Mark], families: Sequence[str], *, label: str, zero: bool = False
) -> str:
    """Draw one labelled point per method, coloured by family; `zero` adds a line at 0."""
    figure, axes = new_figure(7.6, 0.21 * len(marks) + 1.1)
    if zero:
        axes.axvline(0, color="black", linewidth=0.8)
    for row, mark in enumerate(marks):
        style = marker_style(families.index(mark.family))
        if not math.isnan(mark.low):
            axes.plot([mark.low, mark.high], [row, row], color=style["color"], linewidth=1.6)
        fill = style["color"] if mark.is_filled else "white"
        axes.plot([mark.value], [row], **style, markersize=6, markerfacecolor=fill)
        if mark.reference is not None:
            axes.plot([mark.reference], [row], **_RING)
    name_rows(axes, [mark.name for mark in marks])
    for tick, mark in zip(axes.get_yticklabels(), marks, strict=True):
        tick.set_color(marker_style(families.index(mark.family))["color"])
    axes.set_xlabel(label)
    _add_legend(figure, marks, families)
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
    height = first + step * half + 0.75
    figure, axes = new_figure(8.4, height)
    figure.set_layout_engine("none")
    axes.set_position((0.2, 0, 0.6, 1))
    axes.axis("off")
    axes.set_xlim(lowest, highest)
    axes.set_ylim(-(first + step * half), 0.75)
    axes.plot([lowest, highest], [0, 0], color="black", linewidth=1, clip_on=False)
    for tick in range(lowest, highest + 1):
        axes.plot([tick, tick], [0, 0.06], color="black", linewidth=1, clip_on=False)
        axes.text(tick, 0.1, str(tick), ha="center", va="bottom", fontsize=8)
    if critical <= highest - lowest:
        ends = [lowest, lowest + critical]
        axes.plot(ends, [0.45, 0.45], color="black", linewidth=2, clip_on=False)
    axes.text(lowest, 0.52, f"critical difference {critical:.2f}", fontsize=8)
    for number, (start, end) in enumerate(cliques):
        up = -0.1 - 0.1 * number
        axes.plot([start, end], [up, up], color="black", linewidth=3, clip_on=False)
    # The outermost names are highest, so that lines to names on one side do not cross.
    for number, (name, rank) in enumerate(ordered):
        is_left = number < half
        row = number if is_left else len(ordered) - 1 - number
        up = -(first + step * row)
        edge = lowest if is_left else highest
        axes.plot([rank, rank, edge], [0, up, up], color=_GREY, linewidth=0.7, clip_on=False)
        text = f"{name}  {rank:.1f}" if is_left else f"{rank:.1f}  {name}"
        _write_next_to(axes, text, edge, up, is_left=is_left)
    return to_svg(figure)


def _write_next_to(axes: Any, text: str, across: float, up: float, *, is_left: bool) -> None:
    axes.annotate(
        text,
        (across, up),
        xytext=(-4 if is_left else 4, 0),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="center",
        fontsize=8,
        annotation_clip=False,
    )


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
    figure, axes_list = new_grid(width * columns, 2.5 * rows + 0.3, rows, columns, share=False)
    everything = [
        v for panel in panels for v in (*panel.values.values(), *panel.reference.values())
    ]
    for axes, panel in zip(axes_list, panels, strict=False):
        _draw_setting(axes, panel)
        margin = 0.06 * (max(everything) - min(everything)) or 0.01
        axes.set_ylim(min(everything) - margin, max(everything) + margin)
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
    from matplotlib.ticker import NullFormatter, NullLocator

    names, colour = list(panel.values), marker_style(0)["color"]
    for row, name in enumerate(names):
        ratio = panel.values[name]
        axes.plot([1, ratio], [row, row], color=colour, linewidth=1.6)
        axes.plot([ratio], [row], "o", color=colour, markersize=5)
        if name in panel.reference:
            axes.plot([panel.reference[name]], [row], **_RING)
    everything = [1.0, *panel.values.values(), *panel.reference.values()]
    low, high = min(everything) / 1.4, max(everything) * 1.4
    ticks = [step * 10.0**power for power in range(-4, 5) for step in (1, 2, 5)]
    shown = [tick for tick in ticks if low <= tick <= high]
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axes.set_xlim(low, high)
    axes.axvline(1, color="black", linewidth=0.8)
    name_rows(axes, [f"{name}  {panel.values[name]:.2f}" for name in names])
    axes.set_title(panel.title, loc="left", fontsize=10)


def _add_legend(figure: Any, marks: Sequence[Mark], families: Sequence[str]) -> None:
    """Add a legend of the families, and of the rings if there are any."""
    from matplotlib.lines import Line2D

    found = {mark.family for mark in marks}
    handles = [
        Line2D([], [], linestyle="", label=family, **marker_style(number))
        for number, family in enumerate(families)
        if family in found
    ]
    if any(mark.reference is not None for mark in marks):
        handles.append(Line2D([], [], linestyle="", label="the paper's value", **_RING))
    if len(handles) > 1:
        figure.legend(handles=handles, frameon=False, loc="outside right upper", fontsize=9)
