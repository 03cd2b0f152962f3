"""Histograms and charts as SVG, drawn here alone; they need no script and no plotting library.

All text is escaped. Colours are classes of the style sheet `theme.css`: `bar`, `mark`, `expected`,
`threshold` and `line`.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from imboost.arrays import Floats
from imboost.present.formatting import count, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH, HEIGHT = 160, 32  # of a small picture, in user units
N_BINS = 24
INNER = (0.005, 0.995)  # quantiles between which the values of a column are drawn to scale
MARGIN = 12  # room at both ends for values beyond the quantiles

CHART_WIDTH, CHART_HEIGHT = 800, 330  # of a chart with axes
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 30, 50  # room around a chart for its labels
NAME_WIDTH = 150  # room for the names of lines, right of them
N_CHART_BINS = 80
# Range of scores shown above the threshold, in multiples of the range below; the last bar has all
# above.
WIDEST_TAIL = 30.0


@dataclass(frozen=True, eq=False)
class Histogram:
    """The distribution of numbers; a value beyond its range is marked with an arrow."""

    low: float  # begin of the range that is drawn to scale
    high: float
    margin: float  # room at both ends
    bars: Markup

    @classmethod
    def of_column(cls, values: Floats) -> Histogram:
        """Count the values between the inner quantiles; nan is missing."""
        known = values[np.isfinite(values)]
        low, high = _widen(*np.quantile(known, INNER)) if len(known) else (0.0, 1.0)
        counts, _ = np.histogram(known, N_BINS, (low, high))
        return cls(low, high, MARGIN, _bars(counts, MARGIN))

    @classmethod
    def of_scores(cls, scores: Floats) -> Histogram:
        """Count all scores; bars have a logarithmic scale."""
        low, high = _widen(scores.min(), scores.max())
        counts, _ = np.histogram(scores, 2 * N_BINS, (low, high))
        return cls(low, high, 0, _bars(np.log1p(counts)))

    def draw(self, label: str, **marks: float) -> Markup:
        """Draw the distribution with marks at values, each of the class that names it.

        A value that is nan has no mark.
        """
        ticks = [self._tick(kind, value) for kind, value in marks.items() if np.isfinite(value)]
        return _svg(Markup().join([self.bars, *ticks]), label)

    def _tick(self, kind: str, value: float) -> Markup:
        beyond = (int(value > self.high) - int(value < self.low)) if self.margin else 0
        if beyond:
            position = self.margin / 2 if beyond < 0 else WIDTH - self.margin / 2
        else:
            part = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
            position = self.margin + part * (WIDTH - 2 * self.margin)
        return _tick(kind, position, beyond)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequencies of the most common categories; all others share the last bar."""

    categories: tuple[str, ...]
    bars: Markup

    @classmethod
    def of_column(cls, categories: Sequence[str], counts: Sequence[int]) -> Frequencies:
        """Keep the most common categories."""
        order = np.argsort(counts, kind="stable")[::-1]
        sizes = np.asarray(counts, dtype=np.float64)[order]
        heights = np.append(sizes[: N_BINS - 1], sizes[N_BINS - 1 :].sum())
        return cls(tuple(categories[at] for at in order[: N_BINS - 1]), _bars(heights))

    def draw(self, label: str, **marks: str | None) -> Markup:
        """Draw the frequencies with marks at categories, each of the class that names it.

        A category that is None or empty has no mark.
        """
        ticks = [_tick(kind, self._position(name)) for kind, name in marks.items() if name]
        return _svg(Markup().join([self.bars, *ticks]), label)

    def _position(self, name: str | None) -> float:
        n_kept = len(self.categories)
        at = self.categories.index(name) if name in self.categories else n_kept
        return WIDTH * (at + 0.5) / (n_kept + 1)


def draw_found(is_outlier: Sequence[bool], label: str) -> Markup:
    """Draw the number of outliers found by number of answers, beside the diagonal."""
    found = np.concatenate([[0], np.cumsum(is_outlier)])
    n = max(len(is_outlier), 1)
    shown = [*range(0, len(found), max(1, len(found) // WIDTH)), len(found) - 1]
    line = _points((WIDTH * at / n, HEIGHT - (HEIGHT - 2) * found[at] / n) for at in shown)
    diagonal = _path("expected", f"M0 {HEIGHT}L{WIDTH} 2")
    return _svg(diagonal + _path("line", line), label)


def score_chart(scores: NDArray[Any], threshold: float) -> Markup:
    """Draw a histogram of the scores with axes, and with a logarithmic scale of counts."""
    low, high = float(min(scores.min(), threshold)), float(max(scores.max(), threshold))
    farthest = threshold + WIDEST_TAIL * (threshold - low)
    is_cut = low < threshold and high > farthest
    end = farthest if is_cut else max(high, float(np.nextafter(low, np.inf)))
    edges = np.linspace(low, end, N_CHART_BINS + 1)
    clipped = np.minimum(scores, edges[-1])
    parts = {
        "bar": clipped[scores <= threshold],
        "bar outlier": clipped[scores > threshold],
    }
    heights = {kind: np.histogram(part, edges)[0] for kind, part in parts.items()}
    margin = 0.01 * (end - low)
    axes = _Axes(
        low - margin, end, np.log10(0.7), np.log10(max(map(np.max, heights.values()))) + 0.05
    )
    drawn = [axes.bars(kind, edges, counts) for kind, counts in heights.items()]
    drawn.append(axes.line("threshold", [(threshold, axes.bottom), (threshold, axes.top)]))
    beyond = f"; the last bar holds all above {number(farthest)}" if is_cut else ""
    label = f"score (threshold {number(threshold)}{beyond})"
    powers = {float(power): number(10.0**power) for power in range(int(axes.top) + 1)}
    legend = Markup(
        '<text x="{}" y="14" class="key">&#9632; {}</text>'
        '<text x="{}" y="14" class="key outlier">&#9632; {}</text>'
    ).format(
        LEFT,
        f"predicted inliers: {count(len(parts['bar']), 'row')}",
        LEFT + 240,
        f"predicted outliers: {count(len(parts['bar outlier']), 'row')}",
    )
    return axes.draw(Markup().join([*drawn, legend]), label, "rows", powers)


def line_chart(curves: Mapping[str, Sequence[float]], label: str, y_label: str) -> Markup:
    """Draw a line per name over 0, 1, 2 and so on, with its name at its end."""
    values = np.concatenate([np.asarray(curve) for curve in curves.values()])
    low, high = _widen(values.min(), values.max())
    n = max(map(len, curves.values()))
    axes = _Axes(0, max(n - 1, 1), low - 0.05 * (high - low), high, right=NAME_WIDTH)
    drawn = []
    for at, (name, curve) in enumerate(curves.items()):
        kind = f"line line-{at}"
        drawn.append(axes.line(kind, list(enumerate(curve))))
        x, y = axes.x(len(curve) - 1) + 8, axes.y(curve[-1]) + 4
        drawn.append(
            Markup('<text x="{:.1f}" y="{:.1f}" class="key {}">{}</text>').format(x, y, kind, name)
        )
    return axes.draw(Markup().join(drawn), label, y_label, _ticks(axes.bottom, axes.top), n)


def grey_image(pixels: NDArray[Any]) -> str:
    """Return a grey image, dark on white, as the data URL of a PNG file."""
    low, high = _widen(pixels.min(), pixels.max())
    grey = np.rint(255 * (high - pixels) / (high - low)).astype(np.uint8)
    lines = b"".join(b"\0" + line.tobytes() for line in grey)  # each begins with its filter: none
    height, width = pixels.shape
    header = struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)  # 8 bits, grey
    parts = {b"IHDR": header, b"IDAT": zlib.compress(lines), b"IEND": b""}
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts.items()
    )
    return "data:image/png;base64," + b64encode(png).decode("ascii")


@dataclass(frozen=True)
class _Axes:
    """The scales of a chart, from values to positions."""

    left: float
    end: float
    bottom: float
    top: float
    right: float = RIGHT  # room right of the chart

    def x(self, value: float) -> float:
        width = CHART_WIDTH - LEFT - self.right
        return LEFT + width * (value - self.left) / (self.end - self.left)

    def y(self, value: float) -> float:
        height = CHART_HEIGHT - TOP - BOTTOM
        return TOP + height * (self.top - value) / (self.top - self.bottom)

    def line(self, kind: str, points: Sequence[tuple[float, float]]) -> Markup:
        return _path(kind, _points((self.x(x), self.y(y)) for x, y in points))

    def bars(self, kind: str, edges: Floats, counts: NDArray[Any]) -> Markup:
        """Draw counts on a logarithmic scale."""
        floor = CHART_HEIGHT - BOTTOM
        step = 0.9 * (self.x(edges[1]) - self.x(edges[0]))
        parts = [
            f"M{self.x(edge):.1f} {floor}V{self.y(np.log10(size)):.1f}h{step:.1f}V{floor}z"
            for edge, size in zip(edges, counts.tolist(), strict=False)
            if size
        ]
        return _path(kind, "".join(parts))

    def draw(
        self,
        content: Markup,
        x_label: str,
        y_label: str,
        y_ticks: Mapping[float, str],
        n_rounds: int = 0,
    ) -> Markup:
        """Draw the axes around a chart."""
        floor, middle = CHART_HEIGHT - BOTTOM, (LEFT + CHART_WIDTH - self.right) / 2
        rounds = {at: str(at) for at in range(n_rounds)} if 0 < n_rounds <= 12 else None
        x_ticks = rounds or _ticks(self.left, self.end)
        text = Markup('<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>').format
        grid = "".join(f"M{LEFT} {self.y(at):.1f}H{CHART_WIDTH - self.right}" for at in y_ticks)
        base = f"M{LEFT} {floor}H{CHART_WIDTH - self.right}"
        labels = [
            *(text(self.x(at), floor + 18, "middle", name) for at, name in x_ticks.items()),
            *(text(LEFT - 8, self.y(at) + 4, "end", name) for at, name in y_ticks.items()),
            text(middle, CHART_HEIGHT - 8, "middle", x_label),
            Markup(
                '<text transform="translate(14 {}) rotate(-90)" class="middle">{}</text>'
            ).format((TOP + floor) / 2, y_label),
        ]
        inside = Markup().join([_path("grid", grid), content, _path("axis", base), *labels])
        box = f'viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}"'
        return Markup(  # noqa: S704
            f'<svg class="chart" role="img" aria-label="{escape(x_label)}" {box}>{inside}</svg>'
        )


def _ticks(low: float, high: float) -> dict[float, str]:
    """Return about six round numbers in a range, with their texts."""
    least = max((high - low) / 6, 1e-300)
    power = 10.0 ** np.floor(np.log10(least))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= least * 0.999)
    ticks = step * np.arange(np.ceil(low / step), np.floor(high / step) + 1)
    return {float(tick): number(round(float(tick), 12)) for tick in ticks}


def _widen(low: float, high: float) -> tuple[float, float]:
    """Return a range that is not empty."""
    return (float(low) - 0.5, float(high) + 0.5) if low == high else (float(low), float(high))


def _bars(heights: NDArray[Any], start: float = 0) -> Markup:
    """Draw bars as one path; a bar that is not empty is at least one unit high."""
    largest = max(float(heights.max()), 1e-12)
    step = (WIDTH - 2 * start) / len(heights)
    parts = []
    for at, height in enumerate(heights.tolist()):
        if height > 0:
            top = HEIGHT - max(1.0, height / largest * (HEIGHT - 4))
            parts.append(
                f"M{start + at * step:.1f} {HEIGHT}V{top:.1f}h{step * 0.86:.1f}V{HEIGHT}z"
            )
    return _path("bar", "".join(parts))


def _tick(kind: str, position: float, beyond: int = 0) -> Markup:
    """Draw a vertical line, with an arrow if the value lies beyond the scale (-1 or 1)."""
    line = f"M{position:.1f} 0V{HEIGHT}"
    if beyond:
        line += f"M{position + 2 * beyond:.1f} {HEIGHT / 2 - 4}l{3 * beyond} 4l{-3 * beyond} 4"
    return _path(kind, line)


def _points(points: Any) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _path(kind: str, line: str) -> Markup:
    return Markup('<path class="{}" d="{}"/>').format(kind, line)


def _svg(content: Markup, label: str) -> Markup:
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none"'
    return Markup(  # noqa: S704
        f'<svg class="picture" role="img" aria-label="{escape(label)}" {box}>'
        f"<title>{escape(label)}</title>{content}</svg>"
    )
