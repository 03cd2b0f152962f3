"""Charts: rows of points, curves over rounds and settings, and curves over updates."""

import math
from xml.etree import ElementTree

import pandas as pd
import pytest

from imboost_bench.report.charts import COLOURS, curve_panels, dash, dot_plot, update_curves

SVG = "{http://www.w3.org/2000/svg}"
MARKS = pd.DataFrame(
    {
        "value": [0.9, 0.7],
        "low": [0.88, math.nan],
        "high": [0.92, math.nan],
        "family": ["IMBoost", "OC-based"],
        "style": [0, 1],
        "reference": [0.85, math.nan],
        "is_filled": [True, False],
    },
    index=["imboost/mm", "oc/rd"],
)
CURVES = pd.DataFrame({"mm": [0.5, 0.7, 0.9], "rd": [0.5, 0.6, 0.6]})
PANELS = {"thyroid": CURVES, "wine": pd.DataFrame({"rd": [0.4, 0.5]})}
SETTINGS = pd.DataFrame({"mean": [0.6, None, 0.9, None]}, index=["0", "1", "2", "10"])
PAPER = pd.DataFrame({"mean": [0.5, 0.7, 0.8, 0.6]}, index=SETTINGS.index)
RISKS = pd.DataFrame({"inliers": [3.0, -5.0, -9.0], "outliers": [4.0, 20.0, 800.0]}, [1, 2, 3])
PHASES = {"warm-up": (1, 2), "round 1": (3, 3)}

CHARTS = {
    "marks": lambda: dot_plot(MARKS, label="mean test AUC"),
    "one mark": lambda: dot_plot(MARKS[:1], label="difference", origin=0.0),
    "learning curves": lambda: curve_panels({"": CURVES}, label="test AUC", x_label="round"),
    "with reference": lambda: curve_panels(
        {"": CURVES}, label="test AUC", references={"": CURVES[["rd"]] - 0.05}
    ),
    "one curve": lambda: curve_panels({"": CURVES[["mm"]]}, label="test AUC"),
    "many rounds": lambda: curve_panels({"": pd.DataFrame({"mm": [0.5] * 30})}, label="AUC"),
    "panels": lambda: curve_panels(PANELS, label="test AUC"),
    "more panels than a row": lambda: curve_panels(
        {f"set {number}": CURVES for number in range(5)}, label="test AUC"
    ),
    "settings": lambda: curve_panels(
        {"λ₁": SETTINGS}, label="mean test AUC", references={"λ₁": PAPER}
    ),
    "updates": lambda: update_curves(RISKS, PHASES, label="loss"),
    "wide updates": lambda: update_curves(
        RISKS, PHASES, label="loss", value="symlog", linthresh=9.0
    ),
}


def texts(svg):
    return {"".join(node.itertext()).strip() for node in ElementTree.fromstring(svg).iter()}


def paths(svg):
    """Return the styles of the paths of each panel."""
    return [
        [path.get("style", "").lower() for path in panel.iter(f"{SVG}path")]
        for panel in ElementTree.fromstring(svg).iter(f"{SVG}g")
        if panel.get("id", "").startswith("axes_")
    ]


def curve_colours(svg):
    """Return which of the first two colours the curves of each panel have."""
    first_two = [colour.lower() for colour in COLOURS[:2]]
    return [
        {c for c in first_two for own in styles if f"stroke: {c}" in own and "fill: none" in own}
        for styles in paths(svg)
    ]


@pytest.mark.parametrize("draw", CHARTS.values(), ids=CHARTS)
def test_a_chart_is_svg_that_scales_and_is_the_same_every_time(draw):
    root = ElementTree.fromstring(draw())
    assert root.tag == f"{SVG}svg"
    assert "viewBox" in root.attrib
    assert not {"width", "height"} & set(root.attrib)
    assert draw() == draw()


def test_marks_are_named_and_so_are_their_families_and_the_rings():
    found = texts(CHARTS["marks"]())
    assert {"imboost/mm", "oc/rd", "IMBoost", "OC-based", "the paper's value"} <= found
    assert "peers" not in found


def test_marks_that_are_not_filled_are_hollow():
    filled = dot_plot(MARKS.assign(is_filled=True), label="x")
    assert CHARTS["marks"]().count("#ffffff") > filled.count("#ffffff")


def test_curves_and_axes_are_named():
    assert {"mm", "rd", "test AUC", "round", "0", "2"} <= texts(CHARTS["learning curves"]())
    assert {"thyroid", "wine", "mm", "rd"} <= texts(CHARTS["panels"]())


def test_a_single_curve_needs_no_legend():
    assert "mm" not in texts(CHARTS["one curve"]())
    assert "inliers" not in texts(update_curves(RISKS[["inliers"]], PHASES, label="loss"))


def test_settings_are_in_the_order_of_their_values():
    found = texts(CHARTS["settings"]())
    assert {"0", "1", "2", "10", "λ₁", "mean test AUC"} <= found


def test_many_rounds_have_few_labels():
    found = texts(CHARTS["many rounds"]())
    assert {"0", "3", "27"} <= found
    assert "1" not in found


def test_a_method_keeps_its_colour_in_panels_where_others_are_missing():
    first, second = (colour.lower() for colour in COLOURS[:2])
    assert curve_colours(CHARTS["panels"]())[:2] == [{first, second}, {second}]
    swapped = curve_panels(PANELS, label="AUC", styles={"mm": 1, "rd": 0})
    assert curve_colours(swapped)[:2] == [{first, second}, {first}]


def test_the_legend_names_methods_that_the_first_panel_lacks():
    panels = dict(reversed(PANELS.items()))
    assert {"mm", "rd"} <= texts(curve_panels(panels, label="test AUC"))


def test_a_curve_to_compare_with_has_the_colour_of_its_name_and_hollow_marks():
    colour = COLOURS[1].lower()
    plain, both = CHARTS["learning curves"](), CHARTS["with reference"]()
    assert both.lower().count(colour) > plain.lower().count(colour)
    assert both.count("fill: #ffffff") > plain.count("fill: #ffffff")


def test_lines_of_one_colour_differ_in_their_dashes():
    for number in range(len(COLOURS)):
        assert dash(number) != dash(number + len(COLOURS))


def test_names_with_markup_stay_text():
    curves = pd.DataFrame({"<a> & b": [0.5], "c": [0.4]})
    assert {"<a> & b", "x < y"} <= texts(curve_panels({"": curves}, label="x < y"))


def test_updates_carry_the_names_of_curves_and_phases():
    found = texts(CHARTS["updates"]())
    assert {"inliers", "outliers", "warm-up", "round 1", "update", "loss"} <= found
    lines = [own for own in paths(CHARTS["updates"]())[0] if "stroke-width: 1.6" in own]
    assert ["stroke-dasharray" in own for own in lines] == [False, True]


def test_a_wide_scale_is_labelled_near_zero_and_far_out():
    found = {text.replace("\N{MINUS SIGN}", "-") for text in texts(CHARTS["wide updates"]())}
    numbers = {float(text.replace(",", "")) for text in found if text.strip("-").isdigit()}
    assert any(0 < abs(value) <= 10 for value in numbers)
    assert any(value >= 100 for value in numbers)
