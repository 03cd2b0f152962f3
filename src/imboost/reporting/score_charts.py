"""The histogram of the scores of a table, with the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from imboost.reporting.canvas import COLOURS, new_figure, to_svg

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_BINS = 80
# Range shown above the threshold, in multiples of the range below; the last bar has all above.
WIDEST_TAIL = 30.0


def score_histogram(scores: NDArray[Any], threshold: float) -> str:
    """Draw a histogram of the scores; those above the threshold, the outliers, stand out."""
    import numpy as np

    figure, [axes] = new_figure(8.0, 3.2)
    low, high = float(min(scores.min(), threshold)), float(max(scores.max(), threshold))
    farthest = threshold + WIDEST_TAIL * (threshold - low)
    is_cut = low < threshold and high > farthest
    end = farthest if is_cut else max(high, np.nextafter(low, np.inf))
    edges = np.linspace(low, end, N_BINS + 1)
    clipped = np.minimum(scores, edges[-1])
    for part, name, colour in (
        (clipped[scores <= threshold], "inliers", COLOURS[0]),
        (clipped[scores > threshold], "outliers", COLOURS[1]),
    ):
        axes.hist(part, edges, color=colour, label=f"called {name}: {len(part):,} rows")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.axvline(threshold, color="black", linewidth=1)
    axes.grid(axis="x", visible=False)
    beyond = f"; the last bar holds all above {farthest:.3g}" if is_cut else ""
    axes.set_xlabel(f"score (threshold {threshold:.4g}{beyond})")
    axes.set_ylabel("rows")
    figure.legend(frameon=False, loc="outside upper right", ncols=2, fontsize=9)
    return to_svg(figure)
