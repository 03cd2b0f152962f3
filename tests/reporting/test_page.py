import jinja2
import pytest

from imboost.reporting import render
from imboost.reporting.page import _figure, _signed

DASH = "\N{EN DASH}"


@pytest.mark.parametrize(
    ("value", "text"), [(0.12345, "0.123"), (1, "1.000"), (None, DASH), (float("nan"), DASH)]
)
def test_a_figure_has_three_places_and_a_gap_is_a_dash(value, text):
    assert _figure(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.05, "+0.050"), (-0.05, "-0.050"), (None, DASH), (float("nan"), DASH)]
)
def test_a_difference_has_its_sign(value, text):
    assert _signed(value) == text


def test_a_page_that_lacks_something_is_not_rendered():
    with pytest.raises(jinja2.UndefinedError):
        render("report.md.j2", {})


def test_an_unknown_template_is_an_error():
    with pytest.raises(jinja2.TemplateNotFound):
        render("absent.html.j2", {})
