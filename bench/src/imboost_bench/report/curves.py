"""Curves over rounds and over updates as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from imboost_bench.report.canvas import (
    COLOURS,
    dash,
    marker_style,
    new_figure,
    spread,
    to_svg,
    write_beside,
)

Curves = Mapping[str, Mapping[int, float]]
"""A value by round, for every name in the legend."""


def learning_curves(
    curves: Curves,
    *,
    label: str,
    reference: Curves | None = None,
    styles: Mapping[str, int] | None = None,
) -> str:
    """Draw one line per name over the rounds, named at its end.

    Parameters
    ----------
    curves : mapping
    label : str
        Label of the y axis.
    reference : mapping, optional
        Reference curves, drawn thin with hollow markers in the colour of the same name.
    styles : mapping, optional
        Number of the colour, marker and dash of each name; by default its position.
    """
    figure, [axes] = new_figure(6.4, 3.6)
    styles = styles or _positions(curves)
    for name, curve in (reference or {}).items():
        style = marker_style(styles[name]) | {"markerfacecolor": "white", "linewidth": 0.8}
        axes.plot(list(curve), list(curve.values()), **style)
    _draw_curves(axes, curves, styles)
    axes.set_xlabel("round of questions (0: no answer yet)")
    axes.set_ylabel(label)
    if len(curves) > 1:
        # Names at the ends of lines are moved apart where they would overlap.
        low, high = axes.get_ylim()
        ends = [curve[max(curve)] for curve in curves.values()]
        right = max(max(curve) for curve in curves.values())
        for name, y in zip(curves, spread(ends, distance=0.07 * (high - low)), strict=True):
            colour = marker_style(styles[name])["color"]
            write_beside(axes, name, right, y, 8, color=colour, fontsize=9)
    return to_svg(figure)


def small_multiples(
    panels: Mapping[str, Curves],
    *,
    label: str,
    columns: int = 4,
    styles: Mapping[str, int] | None = None,
) -> str:
    """Draw one small panel of curves per data set, all on the same scale."""
    rows = -(-len(panels) // columns)
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    values = [value for curves in panels.values() for c in curves.values() for value in c.values()]
    lowest = min([0.5, *values])
    styles = styles or _positions(names)
    figure, axes_list = new_figure(2.4 * columns, 1.7 * rows + 0.5, rows, columns)
    for axes, (name, curves) in zip(axes_list, panels.items(), strict=False):
        _draw_curves(axes, curves, styles, small=True)
        axes.set_title(name, fontsize=9, loc="left")
        axes.set_ylim(lowest - 0.02, 1.02)
    for axes in axes_list[len(panels) :]:
        axes.set_visible(False)
    figure.supylabel(label, fontsize=9)
    if len(names) > 1:
        lines = {line.get_label(): line for axes in axes_list for line in axes.lines}
        handles = [lines[name] for name in names]
        figure.legend(handles, names, frameon=False, loc="outside upper right", ncols=4)
    return to_svg(figure)


def update_curves(
    curves: Mapping[str, Mapping[int, float]],
    phases: Mapping[str, tuple[int, int]],
    *,
    label: str,
    scale: str = "linear",
    linear_up_to: float = 1.0,
) -> str:
    """Draw one line per name over the updates of a training run, with its phases marked.

    Parameters
    ----------
    curves : mapping
        For every name in the legend, a value by update.
    phases : mapping
        First and last update of every phase, by its name.
    label : str
        Label of the y axis.
    scale : {"linear", "log", "symlog"}
        Scale of the y axis; "symlog" is linear around 0 and logarithmic beyond `linear_up_to`.
    linear_up_to : float
        End of the linear part of a "symlog" scale.
    """
    figure, [axes] = new_figure(6.8, 3.4)
    for number, (name, curve) in enumerate(curves.items()):
        axes.plot(
            list(curve),
            list(curve.values()),
            label=name,
            color=COLOURS[number % len(COLOURS)],
            linestyle=dash(number),
            linewidth=1.6,
        )
    values = [value for curve in curves.values() for value in curve.values()]
    if scale == "symlog":
        axes.set_yscale(scale, linthresh=linear_up_to, linscale=2)  # as high as two decades
        _set_wide_ticks(axes, linear_up_to, min(values), max(values))
    else:
        axes.set_yscale(scale)
    if min(values) < 0 < max(values):
        axes.axhline(0, color="black", linewidth=0.8)
    top = axes.get_xaxis_transform()  # x in updates, y as a fraction of the height
    for name, (first, last) in phases.items():
        axes.axvline(first - 0.5, color="#777777", linewidth=0.8)
        axes.text((first + last) / 2, 1.02, name, transform=top, ha="center", fontsize=8)
    axes.set_xlim(0.5, max(last for _, last in phases.values()) + 0.5)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("update")
    axes.set_ylabel(label)
    if len(curves) > 1:
        n_columns = len(curves) if len(curves) <= 3 else 2  # four names are wider than the figure
        figure.legend(frameon=False, loc="outside lower center", ncols=n_columns, handlelength=3)
    return to_svg(figure)


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _draw_curves(
    axes: Any, curves: Curves, styles: Mapping[str, int], *, small: bool = False
) -> None:
    """Draw curves, each in the style of its name."""
    for name, curve in curves.items():
        axes.plot(
            list(curve),
            list(curve.values()),
            label=name,
            **marker_style(styles[name]),
            linestyle=dash(styles[name]),
            markersize=3 if small else 5,
            linewidth=1.2 if small else 1.8,
        )
    rounds = sorted({number for curve in curves.values() for number in curve})
    if len(rounds) <= 12:
        axes.set_xticks(rounds)


def _set_wide_ticks(axes: Any, linear_up_to: float, low: float, high: float) -> None:
    """Set ticks of a symlog scale: round values in the linear part, 100, 300, 1000, ... beyond."""
    from matplotlib.ticker import MaxNLocator

    inner = MaxNLocator(6).tick_values(max(low, -linear_up_to), min(high, linear_up_to))
    beyond = [part * 10.0**power for power in range(16) for part in (-3, -1, 1, 3)]
    outer = [value for value in beyond if low <= value <= high and abs(value) > linear_up_to]
    ticks = sorted([*(float(value) for value in inner if abs(value) <= linear_up_to), *outer])
    axes.set_yticks(ticks, [f"{value:,g}" for value in ticks])
    axes.minorticks_off()
