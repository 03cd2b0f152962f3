from pathlib import Path

import pytest

import labelling_views as made_up
from imboost.labelling.workspace import Training
from imboost.present import pages as rendering
from imboost.present.rows import UNEXPLAINED
from page_reading import Elements

HOSTILE = [
    '"><script>alert(1)</script><img src=x onerror=alert(2)>',
    "' onfocus='alert(3)' autofocus x='",
    "</textarea></title></style><svg onload=alert(4)>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(5)",
    "W" * 200,
]
HARMLESS = [f"text {n}" for n in range(len(HOSTILE))]
TRAINING = Training("Fitting the base learners", 48.0)
FAILED = {"training": None, "error": "The table has no column that can be used for scoring."}
BEFORE = {"phase": "columns", "panel": None}
FIRST = {"phase": "training", "panel": None}
NEW = {"panel": made_up.empty_panel(), "who": ""}
DONE = made_up.panel(n_open=0, training=None)
STOP = made_up.panel(should_stop=True, training=None, error="The disk is full.")

TYPICAL = {
    "question": {"question": made_up.question()},
    "row": {"question": made_up.question(), "back": "/suspects"},
    "columns": {"columns": made_up.columns(), **BEFORE},
    "training": {"training": TRAINING, "error": "", **FIRST},
    "suspects": {"suspects": made_up.suspects()},
    "history": {"history": made_up.history()},
    "disagreements": {"disagreements": made_up.disagreements()},
    "results": {"results": made_up.results()},
    "error": {"status": 404, "message": "There is no row 99."},
    "fragments/answered": {"question": made_up.question()},
    "fragments/panel": {"panel": STOP},
    "fragments/progress": {"training": TRAINING, "error": ""},
}
OTHER = [
    ("question", {"question": made_up.empty_question(), **NEW}),
    ("question", {"question": made_up.question(explanation=UNEXPLAINED)}),
    ("question", {"question": None}),
    ("question", {"question": None, "panel": None}),
    ("question", {"question": None, "panel": DONE}),
    ("row", {"question": made_up.empty_question(), "panel": None, "back": "/"}),
    ("columns", {"columns": made_up.no_columns(), **BEFORE}),
    ("training", {**FAILED, **FIRST}),
    ("training", {"training": None, "error": "", **FIRST}),
    ("suspects", {"suspects": made_up.suspects(0)}),
    ("history", {"history": {"entries": [], "page": 1, "n_pages": 1, "n_entries": 0}}),
    ("disagreements", {"disagreements": {"doubtful": [], "conflicts": []}}),
    ("results", {"results": {"downloads": [], "saved": "", "report": ""}}),
]


def read(name, context):
    """Render a template and return its elements."""
    return Elements(rendering.render(f"{name}.html.j2", made_up.common() | context))


def with_texts(context, texts):
    """Replace the texts of a context, except for what the application decides."""
    kept = {"phase": context.get("phase", "questions")}
    return made_up.replace_texts(made_up.common() | context, texts) | kept


@pytest.fixture(scope="module")
def pages():
    """Every template with typical and other views, each with its own and with hostile texts."""
    contexts = [*TYPICAL.items(), *OTHER]
    hostile = [(name, with_texts(context, HOSTILE)) for name, context in contexts]
    return [read(name, context) for name, context in contexts + hostile]


def post_form(page, action):
    """Return the form that posts to an address."""
    return next(form for form in page.find("form") if form["attrs"]["action"] == action)


@pytest.mark.parametrize("name", TYPICAL)
def test_texts_of_the_data_never_become_markup(name):
    hostile, harmless = (read(name, with_texts(TYPICAL[name], t)) for t in (HOSTILE, HARMLESS))
    assert hostile.shape == harmless.shape


def test_the_hostile_views_reach_the_pages():
    page = read("question", with_texts(TYPICAL["question"], HOSTILE))
    texts = page.find("html")[0]["text"]
    for text in HOSTILE:
        assert text in texts


def test_a_card_shows_every_value_and_draws_every_reason():
    page = read("question", TYPICAL["question"])
    [cells] = [element for element in page.elements if element["attrs"].get("id") == "cells"]
    for cell in made_up.question().cells:
        assert cell.column in cells["text"]
        assert (cell.text or "missing") in cells["text"]
    labels = [svg["attrs"]["aria-label"] for svg in page.find("svg") if "role" in svg["attrs"]]
    for drawn in ("4,999.00 among all amounts", "Munich among all cities", "Shipping dates"):
        assert drawn in labels


def test_no_page_has_inline_script_or_style(pages):
    for page in pages:
        assert page.find("style", "iframe", "object", "embed", "img") == []
        for script in page.find("script"):
            assert script["text"] == ""
            assert script["attrs"]["src"].startswith("/static/")
        for element in page.elements:
            for name in element["attrs"]:
                assert name != "style"
                assert not name.startswith(("on", "hx-on", "hx-vals", "data-hx-on"))


def test_pages_load_nothing_from_other_hosts(pages):
    static = Path(rendering.__file__).parent / "static"
    for page in pages:
        for element in page.find("script", "link"):
            address = element["attrs"].get("src") or element["attrs"]["href"]
            assert (static / address.split("?")[0].removeprefix("/static/")).is_file()


def test_every_control_has_an_accessible_name(pages):
    for page in pages:
        labelled = {label["attrs"]["for"] for label in page.find("label")}
        for button in page.find("button"):
            assert (button["attrs"].get("aria-label") or button["text"]).strip()
        for field in page.find("input", "select", "textarea"):
            if field["attrs"].get("type") != "hidden":
                assert field["attrs"].get("aria-label") or field["attrs"]["id"] in labelled


def test_ids_are_unique_and_references_point_to_them(pages):
    for page in pages:
        ids = [element["attrs"]["id"] for element in page.elements if "id" in element["attrs"]]
        assert len(ids) == len(set(ids))
        for element in page.elements:
            for name in ("form", "for", "aria-labelledby", "aria-describedby", "popovertarget"):
                if name in element["attrs"]:
                    assert element["attrs"][name] in ids


def test_every_key_of_the_help_presses_something(pages):
    attributes = [element["attrs"] for page in pages for element in page.elements]
    explained = {attrs["data-help-key"] for attrs in attributes if "data-help-key" in attrs}
    pressed = {attrs["data-key"] for attrs in attributes if "data-key" in attrs}
    assert explained == pressed


def test_answers_are_sent_with_the_row_and_the_request():
    page = read("question", TYPICAL["question"])
    form = post_form(page, "/answer")
    fields = {
        field["attrs"]["name"]: field["attrs"]["value"]
        for field in page.find("input")
        if field["form"] is form
        and field["attrs"]["type"] == "hidden"
        and field["attrs"]["name"] != "also"
    }
    assert fields == {"row": "10423", "request": "b5f2"}
    answers = [
        (button["attrs"]["data-key"], button["attrs"]["value"])
        for button in page.find("button")
        if button["attrs"].get("form") == form["attrs"]["id"]
    ]
    single = [("o", "outlier"), ("i", "inlier"), ("u", "unsure"), ("s", "skip")]
    assert sorted(answers) == sorted([*single, ("O", "outlier+group"), ("I", "inlier+group")])


def test_enter_in_a_field_of_the_card_answers_nothing():
    page = read("question", TYPICAL["question"])
    form = post_form(page, "/answer")
    first = next(button for button in page.find("button") if button["form"] is form)
    assert first["attrs"]["formmethod"] == "dialog"


@pytest.mark.parametrize(("page", "kind"), [("question", "hidden"), ("row", "checkbox")])
def test_every_row_of_a_group_is_answered_to_begin_with(page, kind):
    """The question names the rows and loads the table when opened, from the page of the row."""
    boxes = [
        field["attrs"]
        for field in read(page, TYPICAL[page]).find("input")
        if field["attrs"].get("name") == "also"
    ]
    assert [box["value"] for box in boxes] == [str(700 + n) for n in range(37)]
    assert all(box["type"] == kind and ("checked" in box) == (kind == "checkbox") for box in boxes)


def test_a_row_without_a_group_has_no_group_buttons():
    page = read("question", {"question": made_up.question(group=None)})
    assert not [b for b in page.find("button") if "group" in (b["attrs"].get("value") or "")]


def test_a_card_brings_the_panel_along_out_of_band():
    asides = read("fragments/answered", TYPICAL["fragments/answered"]).find("aside")
    assert [aside["attrs"]["hx-swap-oob"] for aside in asides] == ["true"]
    assert "hx-swap-oob" not in read("question", TYPICAL["question"]).find("aside")[0]["attrs"]


def test_the_single_row_goes_back_to_the_list():
    page = read("row", TYPICAL["row"])
    values = {
        field["attrs"].get("name"): field["attrs"].get("value") for field in page.find("input")
    }
    assert values["back"] == "/suspects"
    assert not [form for form in page.find("form") if "hx-post" in form["attrs"]]


def test_only_who_has_logged_in_can_log_out():
    for is_logged_in in (True, False):
        page = read("question", {**TYPICAL["question"], "is_logged_in": is_logged_in})
        paths = [button["attrs"].get("formaction") for button in page.find("button")]
        assert ("/logout" in paths) == is_logged_in


def test_changed_roles_are_selected_and_pointed_out():
    page = read("columns", TYPICAL["columns"])
    zip_row = next(row for row in page.find("tr") if "zip" in row["text"])
    assert "changed from numeric" in zip_row["text"]
    chosen = [o["text"] for o in page.find("option") if "selected" in o["attrs"]]
    assert chosen == [column["role"] for column in made_up.columns()["columns"]]


def test_links_of_the_list_keep_the_filter():
    links = [a["attrs"]["href"] for a in read("suspects", TYPICAL["suspects"]).find("a")]
    kept = "column=city&value=Munich&answered=all"
    assert f"/suspects?{kept}&sort=score&order=asc" in links
    assert f"/suspects?{kept}&sort=amount&order=asc" in links
    assert f"/suspects?{kept}&sort=score&order=desc&page=3" in links


def test_only_current_entries_of_the_history_can_be_corrected():
    page = read("history", TYPICAL["history"])
    corrected = [f["attrs"]["value"] for f in page.find("input") if f["attrs"]["name"] == "row"]
    current = [
        str(line["entry"].row) for line in made_up.history()["entries"] if line["is_current"]
    ]
    assert corrected == current


def test_keys_keep_or_change_a_doubtful_answer():
    buttons = read("disagreements", TYPICAL["disagreements"]).find("button")
    answers = [
        (b["attrs"]["data-key"], b["attrs"]["value"])
        for b in buttons
        if "value" in b["attrs"] and "data-key" in b["attrs"]
    ]
    assert answers == [("k", "inlier"), ("c", "outlier"), ("k", "outlier"), ("c", "inlier")]


def test_a_failed_training_is_not_polled():
    polled = read("fragments/progress", TYPICAL["fragments/progress"]).find("section")[0]
    failed = read("fragments/progress", FAILED).find("section")[0]
    assert polled["attrs"]["hx-get"] == "/progress"
    assert "hx-get" not in failed["attrs"]
