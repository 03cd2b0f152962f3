from xml.etree import ElementTree

import pytest

from imboost_bench.report.canvas import COLOURS, dash
from imboost_bench.report.curves import learning_curves, small_multiples

CURVES = {"mm": {0: 0.5, 1: 0.7, 2: 0.9}, "rd": {0: 0.5, 1: 0.6, 2: 0.6}}
PANELS = {"thyroid": CURVES, "wine": {"rd": {0: 0.4, 1: 0.5}}}

FIGURES = {
    "learning curves": lambda: learning_curves(CURVES, label="test AUC"),
    "one curve": lambda: learning_curves({"mm": {0: 0.5}}, label="test AUC"),
    "many rounds": lambda: learning_curves({"mm": dict.fromkeys(range(30), 0.5)}, label="AUC"),
    "small multiples": lambda: small_multiples(PANELS, label="test AUC"),
    "panels in a column": lambda: small_multiples(PANELS, label="test AUC", columns=1),
    "one panel": lambda: small_multiples({"wine": CURVES}, label="test AUC", columns=1),
    "more panels than a row": lambda: small_multiples(
        {f"set {number}": CURVES for number in range(5)}, label="test AUC"
    ),
    "with reference curves": lambda: learning_curves(
        CURVES, label="test AUC", reference={"rd": {1: 0.55, 2: 0.65}}
    ),
}


def texts(svg):
    return {"".join(node.itertext()).strip() for node in ElementTree.fromstring(svg).iter()}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_is_svg_that_scales_with_its_page(draw):
    root = ElementTree.fromstring(draw())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "viewBox" in root.attrib
    assert not {"width", "height"} & set(root.attrib)


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_drawn_twice_is_the_same_text(draw):
    assert draw() == draw()


def test_a_figure_keeps_its_text_as_text():
    found = texts(FIGURES["learning curves"]())
    assert {"mm", "rd", "test AUC"} <= found


def test_a_single_curve_needs_no_name():
    assert "mm" not in texts(FIGURES["one curve"]())


def test_panels_carry_the_names_of_the_sets():
    assert {"thyroid", "wine", "mm", "rd"} <= texts(FIGURES["small multiples"]())


def curve_colours(svg):
    """Return the colours of the curves, panel by panel."""
    svg_tag = "{http://www.w3.org/2000/svg}"
    panels = [
        node
        for node in ElementTree.fromstring(svg).iter(f"{svg_tag}g")
        if node.get("id", "").startswith("axes_")
    ]
    return [
        {
            colour.lower()
            for node in panel.iter(f"{svg_tag}path")
            for colour in COLOURS
            if f"stroke: {colour.lower()}" in node.get("style", "").lower()
            and "fill: none" in node.get("style", "")
        }
        & {colour.lower() for colour in COLOURS[:2]}
        for panel in panels
    ]


def test_a_method_keeps_its_colour_in_panels_where_others_are_missing():
    first, second = (colour.lower() for colour in COLOURS[:2])
    assert curve_colours(FIGURES["small multiples"]())[:2] == [{first, second}, {second}]


def test_a_curve_to_compare_with_has_the_colour_of_its_name_and_hollow_marks():
    colour = COLOURS[1].lower()
    plain, both = FIGURES["learning curves"](), FIGURES["with reference curves"]()
    assert both.lower().count(colour) > plain.lower().count(colour)
    assert both.count("fill: #ffffff") > plain.count("fill: #ffffff")


def test_lines_of_one_colour_differ_in_their_dashes():
    for number in range(len(COLOURS)):
        assert dash(number) != dash(number + len(COLOURS))


def test_curves_may_be_given_the_styles_of_their_families():
    svg = small_multiples(PANELS, label="test AUC", styles={"mm": 1, "rd": 0})
    first, second = (colour.lower() for colour in COLOURS[:2])
    assert curve_colours(svg)[:2] == [{first, second}, {first}]


def test_the_legend_names_methods_that_the_first_panel_lacks():
    panels = {"wine": {"rd": {0: 0.4}}, "thyroid": CURVES}
    assert {"mm", "rd"} <= texts(small_multiples(panels, label="test AUC"))


def test_names_with_markup_stay_text():
    svg = learning_curves({"<a> & b": {0: 0.5}, "c": {0: 0.4}}, label="x < y")
    assert {"<a> & b", "x < y"} <= texts(svg)
