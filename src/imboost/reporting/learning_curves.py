"""Learning curves as SVG, and images for a page."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from imboost.reporting.canvas import dash, label_ends, marker_style, new_figure, new_grid, to_svg

if TYPE_CHECKING:
    from numpy.typing import NDArray

Curves = Mapping[str, Mapping[int, float]]
"""A value by round, for every name in the legend."""


def learning_curves(
    curves: Curves,
    *,
    label: str,
    title: str = "",
    reference: Curves | None = None,
    styles: Mapping[str, int] | None = None,
) -> str:
    """Draw one line per name over the rounds, named at its end.

    Parameters
    ----------
    curves : mapping
    label : str
        What the values are.
    title : str
    reference : mapping, optional
        Reference curves, drawn thin with hollow markers in the colour of the same name.
    styles : mapping, optional
        Number of the colour, marker and dash of each name; by default its position.
    """
    figure, axes = new_figure(6.4, 3.6)
    styles = styles or _positions(curves)
    for name, curve in (reference or {}).items():
        style = marker_style(styles[name])
        axes.plot(
            list(curve), list(curve.values()), **style, markerfacecolor="white", linewidth=0.8
        )
    _draw_curves(axes, curves, styles)
    axes.set_xlabel("round of questions (0: no answer yet)")
    axes.set_ylabel(label)
    if title:
        axes.set_title(title, loc="left", fontweight="bold")
    if len(curves) > 1:
        last = {name: max(curve) for name, curve in curves.items()}
        label_ends(
            axes,
            {
                name: (last[name], curve[last[name]], marker_style(styles[name])["color"])
                for name, curve in curves.items()
            },
        )
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
    figure, axes_list = new_grid(2.4 * columns, 1.7 * rows + 0.5, rows, columns)
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


def picture(pixels: NDArray[Any]) -> str:
    """Return a grey image, dark on white, as a data URL."""
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, pixels, cmap="gray_r", format="png")
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode("ascii")


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
