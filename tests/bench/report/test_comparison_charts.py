import math
from xml.etree import ElementTree

import pytest

from imboost_bench.report.canvas import spread
from imboost_bench.report.comparison_charts import (
    Mark,
    Panel,
    critical_difference_diagram,
    dot_plot,
    setting_panels,
)

FAMILIES = ["IMBoost", "OC-based", "peers"]
MARKS = [
    Mark("imboost/mm", 0.9, 0.88, 0.92, "IMBoost", reference=0.85),
    Mark("oc/rd", 0.7, family="OC-based", is_filled=False),
]
PANEL = Panel("λ₁", {"0": 0.6, "2": 0.9}, {"0": 0.5, "1": 0.7, "2": 0.8, "10": 0.6}, "2")
RATIOS = Panel("time", {"imboost/mm": 1.0, "xgbod/rd": 30.0}, {"imboost/mm": 1.0})

CHARTS = {
    "marks": lambda: dot_plot(MARKS, FAMILIES, label="mean test AUC"),
    "one mark": lambda: dot_plot(MARKS[:1], FAMILIES, label="difference", zero=True),
    "ranks": lambda: critical_difference_diagram(
        {"a": 1.2, "b": 2.0, "c": 2.8}, [(1.2, 2.0)], 1.0
    ),
    "equal ranks": lambda: critical_difference_diagram({"a": 2.0, "b": 2.0, "c": 2.0}, [], 5.0),
    "settings": lambda: setting_panels([PANEL] * 4, RATIOS, label="mean test AUC"),
    "settings without times": lambda: setting_panels([PANEL], None, label="mean test AUC"),
    "times alone": lambda: setting_panels([], RATIOS, label="mean test AUC"),
}


def texts(svg):
    return {"".join(node.itertext()).strip() for node in ElementTree.fromstring(svg).iter()}


@pytest.mark.parametrize("draw", CHARTS.values(), ids=CHARTS)
def test_a_chart_is_svg_that_scales_and_is_the_same_every_time(draw):
    root = ElementTree.fromstring(draw())
    assert "viewBox" in root.attrib
    assert not {"width", "height"} & set(root.attrib)
    assert draw() == draw()


def test_marks_are_named_and_so_are_their_families_and_the_rings():
    found = texts(CHARTS["marks"]())
    assert {"imboost/mm", "oc/rd", "IMBoost", "OC-based", "the paper's value"} <= found
    assert "peers" not in found


def test_marks_that_are_not_filled_are_hollow():
    filled = dot_plot([Mark("a", 0.5, family="peers")], FAMILIES, label="x")
    hollow = dot_plot([Mark("a", 0.5, family="peers", is_filled=False)], FAMILIES, label="x")
    assert hollow.count("#ffffff") > filled.count("#ffffff")


def test_a_mark_without_spread_is_a_mark():
    assert "a" in texts(
        dot_plot([Mark("a", 0.5, math.nan, math.nan, "peers")], FAMILIES, label="")
    )


def test_ranks_are_written_with_the_names_and_the_critical_difference():
    found = texts(CHARTS["ranks"]())
    assert any("critical difference 1.00" in text for text in found)
    assert any(text.startswith("a") and text.endswith("1.2") for text in found)


def test_settings_are_in_the_order_of_their_values_with_the_papers_among_them():
    found = texts(CHARTS["settings without times"]())
    assert {"0", "1", "2", "10", "λ₁", "mean test AUC"} <= found


def test_labels_that_would_overlap_are_moved_apart_in_their_order():
    moved = spread([0.50, 0.51, 0.52, 0.9], distance=0.1)
    assert moved == pytest.approx([0.41, 0.51, 0.61, 0.9])
    assert spread([0.9, 0.1], distance=0.1) == [0.9, 0.1]
    assert spread([], distance=0.1) == []
