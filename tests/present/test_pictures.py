"""Pictures show what the numbers are, whatever their range."""

import re
import zlib
from base64 import b64decode

import numpy as np
import pytest

from imboost.present.pictures import (
    HEIGHT,
    N_BINS,
    WIDTH,
    Frequencies,
    Histogram,
    draw_found,
    grey_image,
    line_chart,
    score_chart,
)


def position(svg, kind):
    """Return where a mark stands on the x axis, and whether it has an arrow."""
    line = re.search(rf'<path class="{kind}" d="M([\d.]+) 0V{HEIGHT}([^"]*)"', svg)
    return float(line[1]), bool(line[2])


def test_values_in_the_range_are_drawn_to_scale():
    histogram = Histogram.of_column(np.arange(1001.0))
    at = [position(histogram.draw("x", mark=value), "mark") for value in (250, 500, 750)]
    assert at[1] == (WIDTH / 2, False)
    assert at[2][0] - at[1][0] == pytest.approx(at[1][0] - at[0][0], abs=0.2)


@pytest.mark.parametrize("value", [-1e9, 1e9])
def test_a_value_beyond_the_range_has_an_arrow(value):
    svg = Histogram.of_column(np.arange(1001.0)).draw("x", mark=value)
    at, has_arrow = position(svg, "mark")
    assert has_arrow
    assert (at < WIDTH / 2) == (value < 0)


@pytest.mark.parametrize("values", [[], [np.nan], [3.0, 3.0], [np.inf, 1.0]])
def test_any_column_of_numbers_can_be_drawn(values):
    svg = Histogram.of_column(np.array(values)).draw("x", mark=3.0, expected=np.nan)
    assert 'class="mark"' in svg
    assert 'class="expected"' not in svg


def test_rare_categories_share_the_last_bar():
    names = [f"c{n}" for n in range(40)]
    drawn = Frequencies.of_column(names, list(range(40, 0, -1)))
    assert position(drawn.draw("x", mark="c0"), "mark")[0] < 10
    rare = [position(drawn.draw("x", mark=name), "mark")[0] for name in ("c30", "c39", "new")]
    assert rare == [pytest.approx(WIDTH, abs=4)] * 3
    assert 'class="mark"' not in drawn.draw("x", mark=None)


def test_the_last_bar_counts_all_rare_categories():
    sizes = [2 * N_BINS] * (N_BINS - 1) + [1] * 2 * N_BINS
    svg = Frequencies.of_column([str(at) for at in range(len(sizes))], sizes).draw("x")
    tops = re.findall(r"V([\d.]+)h", svg)
    assert len(tops) == N_BINS
    assert len(set(tops)) == 1  # as many rows as in each of the others


def test_labels_are_escaped():
    assert "<b>" not in draw_found([True], "<b>")
    assert "<b>" not in Histogram.of_scores(np.arange(3.0)).draw("<b>")
    assert "<b>" not in line_chart({"<b>": [1, 2]}, "<b>", "<b>")


@pytest.mark.parametrize(
    ("scores", "threshold"),
    [
        (np.zeros(5), 0.0),
        (np.array([0.1, 0.2, 0.9]), 0.5),
        (np.array([1.0, 2.0, 1e9]), 1.5),
        (np.array([-3e5, -2e5, 7.0]), -1e5),
        (np.array([5.0]), 1.0),
    ],
)
def test_scores_of_any_range_can_be_drawn(scores, threshold):
    svg = score_chart(scores, threshold)
    assert "nan" not in svg
    assert ("the last bar" in svg) == (scores.max() == 1e9)
    n_above = int((scores > threshold).sum())
    assert f"predicted outliers: {n_above} row" in svg


def test_lines_end_with_their_names():
    svg = line_chart({"AUC": [0.5, 0.75, 1.0], "AP": [0.1, 0.2, 0.4]}, "round", "quality")
    heights = re.findall(r'y="([\d.]+)" class="key [^>]*>(AUC|AP)<', svg)
    assert [name for _, name in heights] == ["AUC", "AP"]
    assert float(heights[0][0]) < float(heights[1][0])


def test_an_image_keeps_its_pixels_dark_on_white():
    data = b64decode(grey_image(np.array([[0.0, 8.0], [4.0, 0.0]])).partition(",")[2])
    start = data.index(b"IDAT")
    n = int.from_bytes(data[start - 4 : start], "big")
    lines = zlib.decompress(data[start + 4 : start + 4 + n])
    assert lines == bytes([0, 255, 0, 0, 128, 255])
