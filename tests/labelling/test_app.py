"""The labelling application without a browser: forms, redirects, errors and hostile requests."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from imboost.detectors.table_detector import TableDetector
from imboost.errors import StoreError
from imboost.labelling.app import make_app
from imboost.session import Answer, Session
from labelling_project import N_QUESTIONS, make_project, quick_detector, start, write_orders
from serving_thread import served

ROW = re.compile(r'id="card"[^>]*data-row="(\d+)"')
REQUEST = re.compile(r'name="request" value="([^"]+)"')
HOSTILE = "<script>alert('x')</script>"


class Visitor:
    """A browser without JavaScript."""

    def __init__(self, stack, project, **settings):
        address = stack.enter_context(served(make_app(project, **settings)))
        client = httpx.Client(base_url=address, follow_redirects=True, timeout=30)
        self.client = stack.enter_context(client)

    def get(self, path="/", **headers):
        self.page = self.client.get(path, headers=headers)
        return self.page

    def post(self, path, **fields):
        headers = fields.pop("headers", {})
        self.page = self.client.post(path, data=fields, headers=headers)
        return self.page

    @property
    def row(self):
        return int(ROW.search(self.page.text)[1])

    def answer(self, answer, **fields):
        row, request = self.row, REQUEST.search(self.page.text)[1]
        self.post("/answer", **{"row": row, "answer": answer, "request": request, **fields})
        return row


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    return write_orders(tmp_path_factory.mktemp("orders"))


@pytest.fixture
def project(orders, tmp_path):
    project = make_project(orders[0], url=str(tmp_path / "orders.session.db"))
    yield project
    project.close()


@pytest.fixture
def untrained(orders, tmp_path):
    project = make_project(orders[0], url=str(tmp_path / "orders.session.db"), is_trained=False)
    yield project
    project.close()


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def visitor(project, stack):
    start(project)
    visitor = Visitor(stack, project)
    visitor.get()
    return visitor


@pytest.fixture(scope="module")
def shared(orders, tmp_path_factory):
    """Return a visitor and a workspace for requests that change nothing."""
    project = make_project(orders[0], url=str(tmp_path_factory.mktemp("shared") / "session.db"))
    with ExitStack() as stack:
        workspace = start(project)
        visitor = Visitor(stack, project)
        visitor.get()
        yield visitor, workspace
    project.close()


def test_a_role_is_corrected_before_the_first_question(project, stack):
    project.open()
    visitor = Visitor(stack, project)
    assert visitor.get().url.path == "/columns"
    names = project.setup.table.column_names
    index = names.index("visits")
    visitor.post("/columns", **{f"role-{index}": "categorical", "action": "save"})
    assert project.setup.roles == {"visits": "categorical"}
    visitor.post("/columns", **{f"role-{index}": "categorical", "action": "start"})
    project.workspace.wait_until_idle()
    schema = project.workspace.snapshot.detector.schema_
    assert {column.name: str(column.role) for column in schema}["visits"] == "categorical"


@pytest.mark.parametrize("number", ["-1", "99", "x", "9" * 5000])
def test_a_role_of_a_column_that_does_not_exist_is_ignored(project, stack, number):
    project.open()
    visitor = Visitor(stack, project)
    visitor.get()
    response = visitor.post("/columns", **{f"role-{number}": "categorical", "action": "save"})
    assert response.status_code == 200
    assert project.setup.roles == {}


def test_a_long_start_does_not_block_other_requests(project, stack, monkeypatch):
    project.open()
    visitor = Visitor(stack, project)
    visitor.get()
    is_starting, may_start = threading.Event(), threading.Event()

    def slow_start():
        is_starting.set()
        may_start.wait(30)

    monkeypatch.setattr(project, "start", slow_start)
    other = httpx.Client(base_url=visitor.client.base_url, timeout=5)
    with ThreadPoolExecutor() as pool, other:
        started = pool.submit(visitor.post, "/columns", action="start")
        try:
            assert is_starting.wait(30)
            assert other.get("/health").status_code == 200
        finally:
            may_start.set()
        assert started.result().status_code == 200


def test_a_role_that_no_cell_fits_is_refused_on_the_page(project, stack):
    project.open()
    visitor = Visitor(stack, project)
    visitor.get()
    index = project.setup.table.column_names.index("city")
    response = visitor.post("/columns", **{f"role-{index}": "datetime", "action": "start"})
    assert response.status_code == 422
    assert "cannot be datetime" in response.text
    assert project.workspace is None


def test_a_first_training_that_failed_can_be_started_again(untrained, stack, monkeypatch):
    with monkeypatch.context() as patch:

        def fail(_):
            raise MemoryError

        patch.setattr(Session, "start", fail)
        untrained.open()
        untrained.start()
        untrained.workspace.wait_until_idle()
        assert untrained.workspace.error
        visitor = Visitor(stack, untrained)
        assert untrained.workspace.error in visitor.get().text
        assert 'action="/retry"' in visitor.page.text
    visitor.post("/retry")
    untrained.workspace.wait_until_idle()
    visitor.get()
    visitor.answer("inlier")
    assert len(untrained.workspace.session.history) == 1


def test_answers_undo_and_next_work_without_javascript(visitor, project):
    session = project.workspace.session
    row = visitor.answer("outlier", note="far too high")
    assert session.answers == {row: Answer.OUTLIER}
    assert session.history[0].note == "far too high"
    assert visitor.row != row
    visitor.post("/undo")
    assert visitor.row == row
    assert session.answers == {}
    visitor.post("/next", row=row)
    assert visitor.row != row


def test_htmx_gets_the_next_card_and_the_panel_alone(visitor):
    visitor.answer("inlier", headers={"HX-Request": "true"})
    assert "<html" not in visitor.page.text
    assert 'id="card"' in visitor.page.text
    assert 'id="panel"' in visitor.page.text


def test_an_answer_that_is_sent_twice_counts_once(visitor, project):
    page = visitor.page
    visitor.answer("inlier")
    visitor.page = page
    assert visitor.answer("inlier") in project.workspace.session.answers
    assert len(project.workspace.session.history) == 1


def test_a_group_answer_has_an_entry_for_each_checked_row(visitor, project):
    row = visitor.row
    others = [other for other in range(10) if other != row][:3]
    visitor.answer("outlier+group", also=[*others, row])
    assert set(project.workspace.session.answers) == {row, *others}


def test_an_answer_about_the_row_alone_leaves_out_its_group(visitor, project):
    """The form sends the checked rows of the group with every answer."""
    row = visitor.row
    others = [other for other in range(10) if other != row][:3]
    visitor.answer("outlier", also=others)
    assert set(project.workspace.session.answers) == {row}


def test_an_answer_from_the_history_corrects(visitor, project):
    row = visitor.answer("inlier")
    visitor.get("/history")
    visitor.post("/history", row=row, answer="outlier")
    assert project.workspace.session.answers[row] == Answer.OUTLIER
    assert len(project.workspace.session.history) == 2


def test_rows_of_the_list_are_answered_together(visitor, project):
    visitor.get("/suspects?sort=amount&order=asc")
    visitor.post("/suspects?sort=amount", answer="outlier", rows=[3, 4])
    assert project.workspace.session.answers == {3: Answer.OUTLIER, 4: Answer.OUTLIER}
    assert visitor.page.url.query == b"sort=amount"


def test_the_list_is_filtered_by_column_text_and_answer(visitor, project, orders):
    visitor.answer("inlier")
    cities = orders[1].table["city"].to_pylist()
    n_expected = sum(city == "city 2" or (city or "").startswith("city 2") for city in cities)
    visitor.get("/suspects?column=city&value=CITY 2")
    assert f"{n_expected} rows match" in visitor.page.text
    visitor.get("/suspects?answered=answered")
    assert "1 row match" in visitor.page.text


@pytest.mark.parametrize("path", ["/suspects", "/history", "/disagreements", "/results", "/panel"])
def test_every_page_can_be_opened(shared, path):
    assert shared[0].client.get(path).status_code == 200


def test_a_row_can_be_looked_at_and_answered(visitor, project):
    visitor.get("/rows/7")
    visitor.answer("unsure", back="/suspects")
    assert project.workspace.session.answers[7] == Answer.UNSURE
    assert visitor.page.url.path == "/suspects"
    assert visitor.get("/rows/99999").status_code == 409


def test_an_answer_on_the_page_of_a_question_is_no_resolution(visitor, project):
    visitor.get("/rows/7?back=/")
    visitor.answer("unsure", back="/")
    assert visitor.page.url.path == "/"
    visitor.get("/rows/8?back=//evil.example")
    assert "evil" not in visitor.page.text
    visitor.answer("unsure", back="//evil.example")
    assert visitor.page.url.host == "127.0.0.1"
    assert [entry.resolves for entry in project.workspace.session.history] == [False, False]


def test_disagreements_between_people_are_resolved(visitor, project):
    session = project.workspace.session
    session.tell([5], ["inlier"], who="ann")
    session.tell([5], ["outlier"], who="bob")
    assert "ann" in visitor.get("/disagreements").text
    visitor.post("/disagreements", row=5, answer="outlier")
    assert session.conflicts == {}
    assert session.labels[5] == 1


def test_enough_answers_bring_a_new_round_to_the_panel(visitor, project):
    for _ in range(N_QUESTIONS):
        visitor.answer("inlier" if len(project.workspace.session.history) % 2 else "outlier")
    project.workspace.wait_until_idle()
    assert 'data-round="1"' in visitor.get("/panel").text


def test_the_same_answers_lead_to_the_same_scores_as_in_python(visitor, project, orders):
    session = project.workspace.session
    for _ in range(N_QUESTIONS + 2):
        visitor.answer("outlier" if orders[1].y[visitor.row] else "inlier")
    project.workspace.wait_until_idle()
    told = Session(quick_detector(), orders[0])
    rows = np.flatnonzero(session.labels >= 0)
    told.tell(rows.tolist(), session.labels[rows].tolist())
    np.testing.assert_array_equal(
        told.refine().detector.decision_scores_, session.refine().detector.decision_scores_
    )


def test_names_are_kept_and_stored_with_answers(visitor, project):
    visitor.post("/name", name="Zoë 🦉")
    assert "Zoë 🦉" in visitor.page.text
    visitor.answer("inlier")
    assert project.workspace.session.history[0].who == "Zoë 🦉"


def test_values_of_the_data_are_never_markup(tmp_path, orders, stack):
    table = orders[1].table
    table = table.append_column(HOSTILE, pa.array([HOSTILE, "b"] * (table.num_rows // 2)))
    path = tmp_path / "orders.csv"
    pyarrow.csv.write_csv(table, path)
    project = make_project(path)
    project.open()
    visitor = Visitor(stack, project)
    assert "<script>alert" not in visitor.get("/columns").text
    visitor.post("/columns", action="start")
    project.workspace.wait_until_idle()
    visitor.get()
    visitor.post("/name", name=HOSTILE)
    visitor.answer("outlier", note=HOSTILE)
    for path in ("/", "/suspects", "/history", "/disagreements", "/results", "/rows/0"):
        text = visitor.get(path).text
        assert "<script>alert" not in text
        assert visitor.page.status_code == 200
    assert "&lt;script&gt;" in visitor.get("/history").text
    project.close()


def test_a_full_store_is_reported_and_the_card_stays(visitor, project, monkeypatch):
    def fail(*_, **__):
        raise StoreError("The disk is full, nothing was stored.")

    with monkeypatch.context() as patch:
        patch.setattr(Session, "tell", fail)
        row = visitor.answer("outlier", headers={"HX-Request": "true"})
        assert visitor.page.status_code == 503
        assert "The disk is full" in visitor.page.text
    visitor.get()
    assert visitor.row == row


class TestFailedFirstTraining:
    @pytest.fixture
    def visitor(self, untrained, stack, monkeypatch):
        def fail(detector, *arguments, **settings):
            raise MemoryError("no memory left")

        with monkeypatch.context() as patch:
            patch.setattr(TableDetector, "fit", fail)
            untrained.open()
            untrained.start()
            untrained.workspace.wait_until_idle()
        return Visitor(stack, untrained)

    def test_it_is_shown_and_can_be_started_again(self, visitor, untrained):
        page = visitor.get().text
        assert "no memory left" in page
        assert "Train again" in page
        visitor.post("/retry")
        untrained.workspace.wait_until_idle()
        assert 'id="card"' in visitor.get().text

    def test_the_columns_can_be_changed_before_the_next_try(self, visitor, untrained):
        visitor.post("/columns/revise")
        assert untrained.phase == "columns"
        visitor.post("/columns", **{"role-2": "ignored", "action": "start"})
        untrained.workspace.wait_until_idle()
        assert untrained.workspace.error == ""
        assert untrained.workspace.session.detector.roles == {"visits": "ignored"}
        visitor.post("/columns/revise")  # too late: nothing changes
        assert untrained.phase == "questions"


class TestHostileRequests:
    def test_another_host_is_refused(self, shared):
        response = shared[0].client.get("/", headers={"Host": "evil.example"})
        assert response.status_code == 400
        assert "evil.example" not in response.text

    def test_a_form_of_another_site_changes_nothing(self, shared):
        shared[0].get()
        shared[0].answer("outlier", headers={"Origin": "https://evil.example"})
        assert shared[0].page.status_code == 403
        assert shared[1].session.history == []

    @pytest.mark.parametrize(
        ("path", "fields"),
        [
            ("/answer", {"row": "abc", "answer": "outlier"}),
            ("/answer", {"row": -1, "answer": "outlier"}),
            ("/answer", {"row": 10**30, "answer": "outlier"}),
            ("/answer", {"row": 0, "answer": "maybe"}),
            ("/answer", {"row": 0}),
            ("/answer", {"row": 0, "answer": "outlier+group", "also": [10**9]}),
            ("/answer", {"row": 0, "answer": "outlier", "request": "a\0b"}),
            ("/next", {"row": "x"}),
            ("/suspects", {"answer": "outlier", "rows": ["x"]}),
            ("/history", {"row": 0, "answer": ""}),
            ("/history", {"row": 0, "answer": "outlier", "page": "x"}),
            ("/disagreements", {"row": 99999, "answer": "outlier"}),
        ],
    )
    def test_strange_forms_are_refused_without_a_server_error(self, shared, path, fields):
        shared[0].get()
        assert 400 <= shared[0].post(path, **fields).status_code < 500
        assert shared[1].session.history == []

    @pytest.mark.parametrize(
        "path",
        [
            "/static/../app.py",
            "/static/%2e%2e/app.py",
            "/static/..%2f..%2f..%2fetc/passwd",
            "/download/../../etc/passwd",
            "/download/x.csv",
            "/rows/abc",
            "/rows/-1",
            "/suspects?page=x",
            "/suspects?page=-5&sort=nothing&column=nothing&value=x",
            "/history?page=999999999999",
            "/suspects?value=%00",
            "//evil.example/",
        ],
    )
    def test_strange_addresses_reach_nothing(self, shared, path):
        response = shared[0].client.get(path, follow_redirects=False)
        assert response.status_code < 500
        assert "root:" not in response.text
        assert "evil.example" not in response.headers.get("location", "")

    def test_undo_without_an_answer_is_a_clear_message(self, shared):
        shared[0].get()
        response = shared[0].post("/undo")
        assert response.status_code == 409
        assert "no answer" in response.text

    def test_pages_carry_a_policy_without_inline_script(self, shared):
        policy = shared[0].get().headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
