"""Small pictures of distributions, as SVG that follows the page's colours and needs no script.

All text is escaped; numbers are written by this module alone. Colours are classes of the style
sheet: `bar`, `mark`, `expected`, `threshold` and `line`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from imboost.arrays import Floats, Indices

WIDTH, HEIGHT = 160, 32  # of the picture of a column, in user units
N_BINS = 24
INNER = (0.005, 0.995)  # quantiles between which values are drawn to scale
MARGIN = 12  # room at both ends for values beyond the quantiles


@dataclass(frozen=True, eq=False)
class NumberPicture:
    """The distribution of a number; values beyond the inner quantiles are marked in the margin."""

    low: float
    high: float
    bars: Markup

    @classmethod
    def fit(cls, values: Floats) -> NumberPicture:
        """Count the values in bins of equal width; nan is missing."""
        known = values[np.isfinite(values)]
        if len(known) == 0:
            return cls(0.0, 1.0, Markup())
        low, high = (float(end) for end in np.quantile(known, INNER))
        if low == high:
            low, high = low - 0.5, high + 0.5
        counts, _ = np.histogram(known, N_BINS, (low, high))
        return cls(low, high, _bars(counts, MARGIN, WIDTH - 2 * MARGIN))

    def draw(self, value: float, expected: float, label: str) -> Markup:
        """Draw the distribution with the value and the expected value; nan draws no mark."""
        marks = [
            _tick(self._position(at), kind, beyond=int(at > self.high) - int(at < self.low))
            for at, kind in ((expected, "expected"), (value, "mark"))
        ]
        return _svg(Markup().join([self.bars, *marks]), label)

    def _position(self, value: float) -> float | None:
        if not np.isfinite(value):
            return None
        if value < self.low:
            return MARGIN / 2
        if value > self.high:
            return WIDTH - MARGIN / 2
        inner = WIDTH - 2 * MARGIN
        return MARGIN + inner * (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, eq=False)
class CategoryPicture:
    """The frequencies of the most common categories; all others share the last bar."""

    categories: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def fit(cls, categories: Sequence[str], counts: Sequence[int]) -> CategoryPicture:
        """Keep the most common categories."""
        order = np.argsort(counts, kind="stable")[::-1]
        kept = order[: N_BINS - 1]
        rest = int(sum(counts)) - int(sum(counts[at] for at in kept))
        return cls(tuple(categories[at] for at in kept), (*(int(counts[at]) for at in kept), rest))

    def draw(self, value: str | None, expected: str, label: str) -> Markup:
        """Draw the frequencies with the value and the expected value, unless they are empty."""
        bars = _bars(np.array(self.counts), 0, WIDTH)
        marks = [_tick(self._position(expected), "expected")] if expected else []
        if value is not None:
            marks.append(_tick(self._position(value), "mark"))
        return _svg(Markup().join([bars, *marks]), label)

    def _position(self, category: str) -> float:
        at = self.categories.index(category) if category in self.categories else -1
        step = WIDTH / len(self.counts)
        return step * (at % len(self.counts) + 0.5)


@dataclass(frozen=True, eq=False)
class ScorePicture:
    """The distribution of the scores of all rows, on a logarithmic scale of counts."""

    low: float
    high: float
    bars: Markup
    threshold: float

    @classmethod
    def fit(cls, scores: Floats, threshold: float) -> ScorePicture:
        """Count the scores in bins of equal width."""
        low, high = float(scores.min()), float(scores.max())
        if low == high:
            low, high = low - 0.5, high + 0.5
        counts, _ = np.histogram(scores, 2 * N_BINS, (low, high))
        return cls(low, high, _bars(np.log1p(counts), 0, WIDTH), threshold)

    def draw(self, label: str, score: float | None = None) -> Markup:
        """Draw the distribution, the threshold and, if given, the score of a row."""
        marks = [_tick(self._position(self.threshold), "threshold")]
        if score is not None:
            marks.append(_tick(self._position(score), "mark"))
        return _svg(Markup().join([self.bars, *marks]), label)

    def _position(self, score: float) -> float:
        return WIDTH * min(max((score - self.low) / (self.high - self.low), 0.0), 1.0)


def draw_found(is_outlier: Sequence[bool], label: str) -> Markup:
    """Draw the number of outliers found by number of answers, beside the diagonal."""
    found = np.concatenate([[0], np.cumsum(is_outlier)])
    n = max(len(is_outlier), 1)
    step = max(1, len(found) // WIDTH)
    points = " ".join(
        f"{WIDTH * at / n:.1f},{HEIGHT - (HEIGHT - 2) * found[at] / n:.1f}"
        for at in [*range(0, len(found), step), len(found) - 1]
    )
    diagonal = f'<path class="expected" d="M0 {HEIGHT}L{WIDTH} 2"/>'
    return _svg(Markup(f'{diagonal}<polyline class="line" points="{points}"/>'), label)  # noqa: S704


def _bars(heights: Floats | Indices, start: float, width: float) -> Markup:
    """Draw bars as one path; a bar that is not empty is at least one unit high."""
    largest = max(float(heights.max()), 1e-12)
    step = width / len(heights)
    parts = []
    for at, height in enumerate(heights.tolist()):
        if height > 0:
            top = HEIGHT - max(1.0, height / largest * (HEIGHT - 4))
            parts.append(
                f"M{start + at * step:.1f} {HEIGHT}V{top:.1f}h{step * 0.86:.1f}V{HEIGHT}z"
            )
    return Markup(f'<path class="bar" d="{"".join(parts)}"/>')  # noqa: S704


def _tick(position: float | None, kind: str, beyond: int = 0) -> Markup:
    """Draw a vertical line, with an arrow if the value lies beyond the scale (-1 or 1)."""
    if position is None:
        return Markup()
    line = f"M{position:.1f} 0V{HEIGHT}"
    if beyond:
        line += f"M{position + 2 * beyond:.1f} {HEIGHT / 2 - 4}l{3 * beyond} 4l{-3 * beyond} 4"
    return Markup(f'<path class="{kind}" d="{line}"/>')  # noqa: S704


def _svg(content: Markup, label: str) -> Markup:
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none"'
    return Markup(  # noqa: S704
        f'<svg class="picture" role="img" aria-label="{escape(label)}" {box}>'
        f"<title>{escape(label)}</title>{content}</svg>"
    )
