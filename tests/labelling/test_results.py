"""The routes of the results page."""

import json
import re
from contextlib import contextmanager
from html import unescape

import httpx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from answered_orders import label_orders
from imboost import persistence
from imboost.labelling import pages, results
from imboost.labelling.app import make_app
from imboost.labelling.label_studio import CONFIG
from serving_thread import served


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
    """Serve the application without the side panel, for which the project has no training."""
    with (
        pytest.MonkeyPatch.context() as patch,
        served(make_app(project)) as address,
        httpx.Client(base_url=address) as client,
    ):
        patch.setattr(pages, "panel_view", lambda _: None)
        yield client


def message(answer):
    """Return the text of an error page."""
    return unescape(re.search(r'id="message">([^<]*)<', answer.text)[1])


def upload(client, content):
    return client.post("/label-studio", files={"file": ("tasks.json", content)})


def test_every_download_of_the_page_can_be_fetched(client):
    page = client.get("/results").text
    hrefs = re.findall(r'href="(/download/[^"]+)"', page)
    assert len(set(hrefs)) == len(results.DOWNLOADS) == 7
    for href in hrefs:
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
    folder = labelled.path.with_name("orders.model")
    assert str(folder) not in client.get("/results").text
    answer = client.post("/save")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/results")
    assert persistence.load(folder).threshold_ == labelled.snapshot.threshold
    assert f"<code>{folder}, " in client.get("/results").text


def test_something_else_is_never_replaced_by_a_model(client, labelled):
    labelled.path.with_name("orders.model").write_text("mine")
    answer = client.post("/save")
    assert answer.status_code == 422
    assert "is not a saved model" in message(answer)
    assert labelled.path.with_name("orders.model").read_text() == "mine"


def test_an_upload_is_imported_and_counted(client, labelled):
    tasks = json.loads(client.get("/download/label-studio.json").content)
    tasks[0]["annotations"][0] |= {"id": 5, "completed_by": {"email": "cy@example.org"}}
    assert ">Imported 1 answer." in upload(client, json.dumps(tasks).encode()).text
    assert labelled.session.history[-1].who == "cy@example.org"
    assert ">Imported 0 answers. " in upload(client, json.dumps(tasks).encode()).text


def test_a_bad_upload_is_refused(client, monkeypatch):
    assert "not JSON" in message(upload(client, b"<xml>"))
    monkeypatch.setattr(results, "MAX_BYTES", 10)
    monkeypatch.setattr("imboost.labelling.label_studio.MAX_BYTES", 10)
    assert "can be imported at once" in message(upload(client, b"[" + b" " * 1000 + b"]"))
    assert client.post("/label-studio", data={"file": "text"}).status_code == 422


@pytest.mark.parametrize("path", ["/results", "/download/scores.csv", "/download/answers.csv"])
def test_there_are_no_results_before_the_first_training(labelled, path):
    labelled.is_ready = False
    with serve(labelled) as client:
        answer = client.get(path)
    assert answer.status_code == 409
    assert "first training is not finished" in message(answer)
