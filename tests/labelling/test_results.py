"""The routes of the results page."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from answered_orders import label_orders
from imboost import persistence
from imboost.errors import IMBoostError
from imboost.labelling import results
from imboost.labelling.label_studio import CONFIG
from imboost.present.pages import render
from serving_thread import served


class Pages:
    """Renders the real template."""

    def render(self, request, template, status=200, **context):
        frame = {"table_name": "orders.csv", "who": "", "csrf": "token", "version": "1"}
        frame |= {"phase": "questions", "panel": None, "is_logged_in": False}
        text = render(f"{template}.html.j2", {**frame, **context})
        return JSONResponse({"page": text, **context}, status_code=status)


@pytest.fixture
def labelled(tmp_path):
    labelled = label_orders(tmp_path)
    yield labelled
    labelled.session.close()


@pytest.fixture
def client(labelled):
    with serve(labelled) as client:
        yield client


@contextmanager
def serve(project):
    app = FastAPI()
    results.add_routes(app, project, Pages())

    def refuse(_, error):
        return JSONResponse({"message": str(error)}, 422)

    app.add_exception_handler(IMBoostError, refuse)
    with served(app) as address, httpx.Client(base_url=address) as client:
        yield client


def upload(client, content):
    return client.post("/label-studio", files={"file": ("tasks.json", content)})


def test_every_download_of_the_page_can_be_fetched(client):
    page = client.get("/results").json()
    hrefs = [href for href, _, _ in page["results"]["downloads"]] + [page["results"]["report"]]
    assert len(hrefs) == 5
    for href in [*hrefs, "/download/label-studio.json", "/download/label-studio.xml"]:
        assert f'href="{href}"' in page["page"]
        answer = client.get(href)
        assert answer.status_code == 200
        ending = href.removeprefix("/download/")
        expected = f"attachment; filename*=UTF-8''orders.{ending}"
        assert answer.headers["Content-Disposition"] == expected


def test_scores_are_the_scored_table(client, labelled):
    from_csv = pa.csv.read_csv(pa.BufferReader(client.get("/download/scores.csv").content))
    content = client.get("/download/scores.parquet").content
    from_parquet = pa.parquet.read_table(pa.BufferReader(content))
    for table in (from_csv, from_parquet):
        assert table["score"].to_pylist() == labelled.snapshot.scores.tolist()
        assert table["answer"].to_pylist()[1] == "outlier"


def test_answers_are_the_whole_history(client, labelled):
    labelled.session.tell([1], ["inlier"], who="Ada")
    content = client.get("/download/answers.parquet").content
    table = pa.parquet.read_table(pa.BufferReader(content))
    assert table["row"].to_pylist() == [0, 1, 2, 3, 4, 5, 1]
    assert table["kind"].to_pylist()[-1] == "correction"
    lines = client.get("/download/answers.csv").text.splitlines()
    assert len(lines) == 8


def test_the_table_s_name_is_quoted_in_headers(labelled):
    labelled.path = labelled.path.with_name('a "ü"\r\nX: y.csv')
    with serve(labelled) as client:
        headers = client.get("/download/label-studio.xml").headers
    header = headers["Content-Disposition"]
    assert header.endswith("''a%20%22%C3%BC%22%0D%0AX%3A%20y.label-studio.xml")


def test_the_configuration_is_downloaded_as_it_is(client):
    assert client.get("/download/label-studio.xml").text == CONFIG


def test_saving_writes_the_model_beside_the_table(client, labelled):
    assert client.get("/results").json()["results"]["saved"] == ""
    answer = client.post("/save")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/results")
    folder = labelled.path.with_name("orders.model")
    assert persistence.load(folder).threshold_ == labelled.snapshot.threshold
    assert client.get("/results").json()["results"]["saved"].startswith(str(folder))


def test_something_else_is_never_replaced_by_a_model(client, labelled):
    labelled.path.with_name("orders.model").write_text("mine")
    answer = client.post("/save")
    assert answer.status_code == 422
    assert "is not a saved model" in answer.json()["message"]
    assert labelled.path.with_name("orders.model").read_text() == "mine"


def test_an_upload_is_imported_and_counted(client, labelled):
    tasks = json.loads(client.get("/download/label-studio.json").content)
    tasks[0]["annotations"][0] |= {"id": 5, "completed_by": {"email": "cy@example.org"}}
    page = upload(client, json.dumps(tasks).encode()).json()
    assert page["results"]["imported"].startswith("Imported 1 answer.")
    assert page["results"]["imported"] in page["page"]
    assert labelled.session.history[-1].who == "cy@example.org"
    again = upload(client, json.dumps(tasks).encode()).json()
    assert again["results"]["imported"].startswith("Imported 0 answers.")


def test_a_bad_upload_is_refused(client, monkeypatch):
    assert "not JSON" in upload(client, b"<xml>").json()["message"]
    monkeypatch.setattr(results, "MAX_BYTES", 10)
    monkeypatch.setattr("imboost.labelling.label_studio_import.MAX_BYTES", 10)
    assert "can be imported at once" in upload(client, b"[" + b" " * 1000 + b"]").json()["message"]
    assert client.post("/label-studio", data={"file": "text"}).status_code == 422


@pytest.mark.parametrize("path", ["/results", "/download/scores.csv", "/download/answers.csv"])
def test_there_are_no_results_before_the_first_training(labelled, path):
    project = SimpleNamespace(path=labelled.path, workspace=None)
    with serve(project) as client:
        answer = client.get(path)
    assert answer.status_code == 422
    assert "before the first training" in answer.json()["message"]
