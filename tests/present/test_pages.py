import jinja2
import pytest

from imboost.present.pages import render


def test_a_page_that_lacks_something_is_not_rendered():
    with pytest.raises(jinja2.UndefinedError):
        render("scores.html.j2", {})


def test_an_unknown_template_is_an_error():
    with pytest.raises(jinja2.TemplateNotFound):
        render("absent.html.j2", {})
