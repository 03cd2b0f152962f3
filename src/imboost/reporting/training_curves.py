"""Curves over the updates of a training run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from imboost.reporting.canvas import COLOURS, dash, new_figure, to_svg


def update_curves(
    curves: Mapping[str, Mapping[int, float]],
    phases: Mapping[str, tuple[int, int]],
    *,
    label: str,
    scale: str = "linear",
    linear_up_to: float = 1.0,
) -> str:
    """Draw one line per name over the updates of a training, with its phases marked.

    Parameters
    ----------
    curves : mapping
        For every name in the legend, a value by update.
    phases : mapping
        First and last update of every phase, by its name.
    label : str
        What the values are.
    scale : {"linear", "log", "symlog"}
        Of the values; "symlog" is linear around 0 and logarithmic beyond `linear_up_to`.
    linear_up_to : float
        For "symlog": how far from 0 it is linear.
    """
    figure, axes = new_figure(8.0, 3.6)
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
    top = axes.get_xaxis_transform()  # updates across, share of the height up
    for name, (first, last) in phases.items():
        axes.axvline(first - 0.5, color="#777777", linewidth=0.8)
        axes.text((first + last) / 2, 1.02, name, transform=top, ha="center", fontsize=8)
    axes.set_xlim(0.5, max(last for _, last in phases.values()) + 0.5)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("update")
    axes.set_ylabel(label)
    if len(curves) > 1:
        figure.legend(frameon=False, loc="outside lower center", ncols=4, handlelength=3)
    return to_svg(figure)


def _set_wide_ticks(axes: Any, linear_up_to: float, low: float, high: float) -> None:
    """Set ticks of a symlog scale: round values in the linear part, 100, 300, 1000, ... beyond."""
    from matplotlib.ticker import MaxNLocator

    inner = MaxNLocator(6).tick_values(max(low, -linear_up_to), min(high, linear_up_to))
    beyond = [part * 10.0**power for power in range(16) for part in (-3, -1, 1, 3)]
    outer = [value for value in beyond if low <= value <= high and abs(value) > linear_up_to]
    ticks = sorted([*(float(value) for value in inner if abs(value) <= linear_up_to), *outer])
    axes.set_yticks(ticks, [f"{value:,g}" for value in ticks])
    axes.minorticks_off()
