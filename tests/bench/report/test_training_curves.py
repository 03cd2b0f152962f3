from xml.etree import ElementTree

import pytest

from imboost_bench.report.curves import update_curves

RISKS = {"inliers": {1: 3.0, 2: -5.0, 3: -9.0}, "outliers": {1: 4.0, 2: 20.0, 3: 800.0}}
PHASES = {"warm-up": (1, 2), "round 1": (3, 3)}
SVG = "{http://www.w3.org/2000/svg}"


def draw(curves=RISKS, **options):
    return ElementTree.fromstring(update_curves(curves, PHASES, label="loss", **options))


def texts(root):
    return {"".join(node.itertext()).strip() for node in root.iter()}


def lines(root):
    """Return the styles of the curves, and of their samples in the legend."""
    styles = [node.get("style", "") for node in root.iter(f"{SVG}path")]
    return [style for style in styles if "stroke-width: 1.6" in style]


def test_curves_carry_their_names_and_the_phases():
    assert {"inliers", "outliers", "warm-up", "round 1", "update", "loss"} <= texts(draw())


def test_curves_differ_in_their_dashes():
    found = lines(draw())
    assert len(found) == 4
    assert sum("stroke-dasharray" in style for style in found) == 2


def test_a_single_curve_needs_no_legend():
    root = draw({"norm": {1: 0.1, 2: 10.0}}, scale="log")
    assert len(lines(root)) == 1
    assert "norm" not in texts(root)


def test_a_wide_scale_is_marked_near_zero_and_far_out():
    found = texts(draw(scale="symlog", linear_up_to=9.0))
    assert {"0", "100", "300"} <= found
    assert "1,000" not in found


@pytest.mark.parametrize("scale", ["linear", "symlog"])
def test_a_figure_drawn_twice_is_the_same_text(scale):
    first, second = (update_curves(RISKS, PHASES, label="loss", scale=scale) for _ in range(2))
    assert first == second
