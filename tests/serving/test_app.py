"""The scoring service: right answers, clear refusals, and no error of its own."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import numpy as np
import pyarrow as pa
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.generation import GenerationMode

from conftest import make_quick
from imboost import TableDetector
from imboost.serving import app as scoring
from imboost.serving.app import make_app
from imboost.serving.limits import Limits
from page_reading import outside_addresses
from program_running import orders
from serving_thread import served

N_CLIENTS, N_REQUESTS = 16, 200
YES_AND_NO = (True, False, "1", "0", 1, 0, 1.0, 0.0, "yes", "no", "Y", "N")
ODD_NAME = "model_config; is it paid?"


@pytest.fixture(scope="module")
def table():
    paid = pa.array([1 if row % 3 else 0 for row in range(300)])
    remark = pa.array([f"a free text of many words about {row}" for row in range(300)])
    code = pa.array([1 + row % 4 for row in range(300)])
    more = {ODD_NAME: paid, "remark": remark, "code": code}
    return pa.table({**dict(zip(orders().column_names, orders().columns, strict=True)), **more})


@pytest.fixture(scope="module")
def detector(table):
    return TableDetector(make_quick("imboost"), roles={"code": "categorical"}).fit(table)


@pytest.fixture(scope="module")
def address(detector):
    with served(make_app(detector)) as address:
        yield address


@pytest.fixture(scope="module")
def api(address):
    return schemathesis.openapi.from_url(f"{address}/openapi.json")


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def as_rows(table):
    """Return a table as a client would send it."""
    return json.loads(json.dumps(table.to_pylist(), default=lambda moment: moment.isoformat()))


def test_scores_of_a_distilled_model_name_it():
    table = orders().select(["order_id", "amount", "city"])  # few columns train quickly
    student = TableDetector(make_quick("stack")).fit(table).distill(table, check=False)
    [row] = table.slice(0, 1).to_pylist()
    with served(make_app(student)) as address, httpx.Client(base_url=address) as client:
        body = client.post("/score", json={"rows": [row]}).json()
        assert body["model"] == client.get("/metadata").json()["detector"] == "Distilled(Stack)"
        assert body["scores"][0]["score"] == student.decision_function(table.slice(0, 1))[0]
        refusal = client.post("/explain", json={"rows": [row]})
        assert refusal.status_code == 422
        assert "use the model it was distilled from" in refusal.json()["detail"]


def test_rows_get_the_scores_that_the_detector_gives(client, detector, table):
    answer = client.post("/score", json={"rows": as_rows(table.slice(0, 20))})
    assert answer.status_code == 200
    scores = answer.json()["scores"]
    expected = detector.decision_function(table.slice(0, 20))
    np.testing.assert_allclose([body["score"] for body in scores], expected)
    likely = detector.predict_proba(table.slice(0, 20))[:, 1]
    np.testing.assert_allclose([body["probability"] for body in scores], likely)
    assert [body["is_outlier"] for body in scores] == (expected > detector.threshold_).tolist()
    assert scores[3]["identifiers"] == {"order_id": "A0000003"}


def test_rows_are_explained(client, detector, table):
    answer = client.post("/explain", json={"rows": as_rows(table.slice(0, 2))})
    assert answer.status_code == 200
    for body, expected in zip(
        answer.json()["explanations"], detector.explain(table.slice(0, 2)), strict=True
    ):
        assert body["score"] == pytest.approx(expected.score)
        named = [reason["column"] for reason in body["reasons"]]
        assert named == [reason.column for reason in expected.reasons]
        total = (
            body["baseline"]
            + body["residual"]
            + sum(reason["contribution"] for reason in body["reasons"])
        )
        assert total == pytest.approx(body["score"])


def test_yes_and_no_mean_what_the_table_calls_them(client, table):
    [row] = as_rows(table.slice(0, 1))
    rows = [{**row, ODD_NAME: value} for value in YES_AND_NO]
    body = client.post("/score", json={"rows": rows}).json()["scores"]
    yes, no = {one["score"] for one in body[::2]}, {one["score"] for one in body[1::2]}
    assert (len(yes), len(no)) == (1, 1)
    assert yes != no


def test_levels_that_are_whole_numbers_may_be_sent_as_numbers(client, table):
    [row] = as_rows(table.slice(0, 1))
    rows = [{**row, "code": value} for value in (2, 2.0, "2", "2.0", 9)]
    *same, other = [
        one["score"] for one in client.post("/score", json={"rows": rows}).json()["scores"]
    ]
    assert len(set(same)) == 1
    assert other not in same


def test_columns_that_are_not_used_may_be_left_out(client, table):
    [row] = as_rows(table.slice(0, 1))
    bare = {name: cell for name, cell in row.items() if name not in ("order_id", "remark")}
    whole, less = client.post("/score", json={"rows": [row, bare]}).json()["scores"]
    assert whole["score"] == less["score"]
    assert less["identifiers"] == {}


def test_the_schema_has_the_names_and_types_of_the_table(client, table):
    schema = client.get("/openapi.json").json()
    row = schema["components"]["schemas"]["Row"]
    assert list(row["properties"]) == table.column_names
    kinds = {
        name: [kind["type"] for kind in cell.get("anyOf", [])]
        for name, cell in row["properties"].items()
    }
    assert kinds["amount"] == ["number", "null"]
    assert kinds["region"] == kinds["ordered"] == ["string", "null"]
    assert kinds[ODD_NAME] == ["boolean", "number", "string", "null"]
    assert kinds["code"] == ["string", "integer", "number", "null"]
    assert kinds["order_id"] == ["string", "integer", "number", "null"]
    assert set(table.column_names) - set(row["required"]) == {"order_id", "remark"}
    assert (
        schema["components"]["schemas"]["ScoreRequest"]["properties"]["rows"]["maxItems"] == 10000
    )


def test_the_model_describes_itself(client, detector, table):
    body = client.get("/metadata").json()
    assert body["detector"] == "IMBoost"
    assert body["threshold"] == detector.threshold_
    assert (body["n_training_rows"], body["max_explained_rows"]) == (300, 100)
    assert [column["name"] for column in body["columns"]] == table.column_names
    assert client.get("/health").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("change", "body"),
    [
        ({"amount": "12"}, "row 0, column 'amount': Input should be a valid number"),
        ({"amount": True}, "row 0, column 'amount'"),
        ({"region": 7}, "row 0, column 'region': Input should be a valid string"),
        ({"amuont": 1.0}, "row 0 has the column 'amuont', which the training table did not have"),
        ({"\ud800": 1.0}, "row 0"),
        ({"region": "\ud800"}, "lone surrogates"),
        ({"order_id": ["x"]}, "row 0, column 'order_id'"),
    ],
    ids=range(7),
)
def test_a_wrong_cell_is_reported(client, table, change, body):
    [row] = as_rows(table.slice(0, 1))
    answer = client.post(
        "/score",
        content=json.dumps({"rows": [{**row, **change}]}),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 422
    assert body in answer.json()["detail"]


def test_a_missing_column_is_reported(client, table):
    [row] = as_rows(table.slice(0, 1))
    del row["amount"]
    answer = client.post("/score", json={"rows": [row]})
    assert answer.status_code == 422
    assert answer.json() == {"detail": "row 0 lacks the column 'amount'"}


@pytest.mark.parametrize(
    "number", ["1e308", "-1e308", "5e-324", "1e999", "NaN", "-Infinity", "9" * 400, "9" * 5000]
)
@pytest.mark.parametrize("path", ["/score", "/explain"])
def test_any_number_is_scored_or_refused(client, table, number, path):
    [row] = as_rows(table.slice(0, 1))
    text = json.dumps({"rows": [{**row, "amount": 123456.75}]}).replace("123456.75", number)
    answer = client.post(path, content=text, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400, 422)
    answer.json()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "Send a JSON object"),
        ("{", "not JSON"),
        ("null", "Send a JSON object"),
        ('"x"', "Send a JSON object"),
        ("[" * 100_000, "parsing the body"),
        ("{}", "rows: Field required"),
        ('{"rows": null}', "rows: Input should be a valid list"),
        ('{"rows": []}', "at least 1 item"),
        ('{"rows": [null]}', "row 0"),
        ('{"rows": [], "x": 1}', "x: Extra inputs are not permitted"),
        ('{"rows": [{"amount": ' + "9" * 5000 + "}]}", "parsing the body"),
        ("\xff", "parsing the body"),
    ],
    ids=range(12),
)
def test_any_body_gets_a_json_answer(client, body, message):
    content = body.encode("latin-1")
    answer = client.post("/score", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert message in answer.json()["detail"]


def test_only_the_first_errors_of_the_first_wrong_row_are_listed(client):
    answer = client.post("/score", json={"rows": [{}, {}]})
    listed = answer.json()["detail"].split("; ")
    assert [text.startswith("row 0 lacks the column") for text in listed] == [True] * 3 + [False]
    assert listed[-1] == "and more errors"


def test_a_row_has_a_maximum_number_of_columns(client, table):
    row = {f"c{at}": 1 for at in range(len(table.column_names) + 11)}
    answer = client.post("/score", json={"rows": [row]})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "row 0: 29 columns; the training table had 18"


def test_requests_of_too_many_rows_are_refused(detector, table):
    limits = Limits(n_rows=5, n_explained=2)
    rows = as_rows(table.slice(0, 6))
    with served(make_app(detector, limits)) as address:
        for path, n_most in (("/score", 5), ("/explain", 2)):
            assert httpx.post(address + path, json={"rows": rows[:n_most]}).status_code == 200
            answer = httpx.post(address + path, json={"rows": rows[: n_most + 1]})
            assert answer.status_code == 422
            assert f"at most {n_most} items" in answer.json()["detail"]
        assert httpx.post(f"{address}/score", json={"rows": []}).status_code == 422


@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "counted"])
def test_requests_of_too_many_bytes_are_refused(detector, is_declared):
    content = json.dumps({"rows": [{"remark": "x" * 5000}]}).encode()
    parts = content if is_declared else iter([content[:3000], content[3000:]])
    with served(make_app(detector, Limits(n_bytes=4096))) as address:
        answer = httpx.post(
            f"{address}/score", content=parts, headers={"Content-Type": "application/json"}
        )
    assert answer.status_code == 413
    assert "4,096 bytes" in answer.json()["detail"]


@pytest.fixture
def slow(monkeypatch):
    """Make every look at rows wait until it is released."""
    release = threading.Event()

    def predict_table(detector, batch):
        release.wait(20)
        return predict(detector, batch)

    predict = scoring.predict_table
    monkeypatch.setattr(scoring, "predict_table", predict_table)
    yield release
    release.set()


def test_a_request_that_takes_too_long_is_given_up(detector, table, slow):
    rows = {"rows": as_rows(table.slice(0, 2))}
    limits = Limits(seconds=0.3, n_jobs=1)
    with served(make_app(detector, limits)) as address:
        answer = httpx.post(f"{address}/score", json=rows)
        assert answer.status_code == 504
        assert "longer than 0.3 seconds" in answer.json()["detail"]
        slow.set()
        answers = (httpx.post(f"{address}/score", json=rows).status_code for _ in range(20))
        assert 200 in answers  # as soon as the worker is free


def test_the_service_answers_while_it_works_and_sends_away_what_it_cannot_take(
    detector, table, slow
):
    rows = {"rows": as_rows(table.slice(0, 1))}
    limits = Limits(n_jobs=1, n_waiting=1)
    with served(make_app(detector, limits)) as address, ThreadPoolExecutor(3) as pool:
        working = [
            pool.submit(httpx.post, f"{address}/score", json=rows, timeout=60) for _ in range(2)
        ]
        metrics = (httpx.get(f"{address}/metrics", timeout=2).text for _ in range(300))
        assert any("imboost_jobs_waiting 1.0" in text for text in metrics)
        assert httpx.get(f"{address}/health", timeout=2).status_code == 200
        refused = httpx.post(f"{address}/score", json=rows)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        slow.set()
        assert [answer.result().status_code for answer in working] == [200, 200]
        assert httpx.post(f"{address}/score", json=rows).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_a_wrong_content_type_is_reported(client, table, kind):
    content = json.dumps({"rows": as_rows(table.slice(0, 1))})
    answer = client.post("/score", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 422
    assert "application/json" in answer.json()["detail"]


def test_a_request_to_another_host_is_rejected(client):
    answer = client.get("/metadata/", headers={"Host": "evil.example"})
    assert (answer.status_code, "Location" in answer.headers) == (400, False)


def test_head_is_answered_wherever_get_is(client):
    for path in ("/health", "/ready", "/metadata", "/metrics", "/openapi.json", "/docs"):
        assert client.head(path).status_code == client.get(path).status_code == 200
    assert client.head("/score").status_code == 405


def test_the_service_documents_itself_without_other_sites(client, table):
    answer = client.get("/docs")
    assert answer.headers["Content-Type"].startswith("text/html")
    assert outside_addresses(answer.text) == ["openapi.json"]
    assert "<script" not in answer.text
    for text in ("POST /score", "POST /explain", "GET /metadata", "amount", "probability"):
        assert text in answer.text
    assert ODD_NAME in answer.text


def test_a_client_that_leaves_during_its_request_is_no_failure(detector, caplog):
    with served(make_app(detector)) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(
                b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
        assert httpx.get(f"{address}/health").status_code == 200
    assert caplog.text == ""


def test_requests_rows_and_waiting_jobs_are_counted(detector, table):
    rows = {"rows": as_rows(table.slice(0, 3))}
    with served(make_app(detector)) as address:
        httpx.post(f"{address}/score", json=rows)
        httpx.post(f"{address}/score", json={})
        httpx.get(f"{address}/a-secret")
        text = httpx.get(f"{address}/metrics").text
    lines = text.splitlines()
    assert 'http_requests_total{handler="/score",method="POST",status="200"} 1.0' in lines
    assert 'http_requests_total{handler="/score",method="POST",status="422"} 1.0' in lines
    assert 'http_requests_total{handler="none",method="GET",status="404"} 1.0' in lines
    assert 'imboost_rows_total{path="/score"} 3.0' in lines
    assert "imboost_jobs_waiting 0.0" in lines
    assert "secret" not in text


def test_a_service_with_a_full_queue_is_not_ready(detector, table, slow):
    rows = {"rows": as_rows(table.slice(0, 1))}
    limits = Limits(n_jobs=1, n_waiting=0)
    with served(make_app(detector, limits, token="secret")) as address:
        assert httpx.get(f"{address}/ready").json() == {"status": "ready"}
        assert httpx.get(f"{address}/metrics").status_code == 401
        with ThreadPoolExecutor(1) as pool:
            headers = {"Authorization": "Bearer secret"}
            working = pool.submit(
                httpx.post, f"{address}/score", json=rows, headers=headers, timeout=60
            )
            while httpx.get(f"{address}/ready").status_code == 200:
                assert not working.done()
            assert httpx.get(f"{address}/health").status_code == 200
            slow.set()
            assert working.result().status_code == 200


def test_a_failure_of_the_service_itself_is_reported_in_the_same_shape(
    detector, table, monkeypatch, caplog
):
    def fail(*_):
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr(scoring, "predict_table", fail)
    with served(make_app(detector)) as address:
        answer = httpx.post(f"{address}/score", json={"rows": as_rows(table.slice(0, 1))})
    assert answer.status_code == 500
    assert answer.json() == {"detail": "The service failed; see its log."}
    assert "a secret of the machine" in caplog.text


@pytest.fixture
def no_wait(monkeypatch):
    """Refuse wrong tokens at once."""
    monkeypatch.setattr("imboost.web.guard.WRONG_TOKEN_SECONDS", 0.0)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic secret"}, 401),
        ({"Authorization": "secret"}, 401),
        ({"Authorization": b"Bearer s\xe9cret"}, 401),
        ({"Authorization": "Bearer secret"}, 200),
        ({"Authorization": "bearer secret"}, 200),
    ],
    ids=range(7),
)
def test_a_token_is_needed_where_there_is_one(detector, table, no_wait, headers, status):
    rows = {"rows": as_rows(table.slice(0, 1))}
    with served(make_app(detector, token="secret")) as address:
        assert httpx.get(f"{address}/health").status_code == 200
        assert httpx.post(f"{address}/score", json=rows, headers=headers).status_code == status
        for path in ("/metadata", "/openapi.json"):
            answer = httpx.get(address + path, headers=headers)
            assert answer.status_code == status
            if status == 401:
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                assert "Bearer TOKEN" in answer.json()["detail"]


def test_many_clients_at_once_lose_nothing_and_get_their_own_answers(address, detector, table):
    scores, explanations = detector.decision_function(table), detector.explain(table)
    rows = as_rows(table)
    clients = [httpx.Client(base_url=address, timeout=60) for _ in range(N_CLIENTS)]
    own = threading.local()

    def start_client():
        own.client = clients.pop()

    def ask(number):
        path, key = ("/score", "scores") if number % 4 else ("/explain", "explanations")
        asked = slice(7 * number % 290, 7 * number % 290 + 1 + number % 10)
        answer = own.client.post(path, json={"rows": rows[asked]})
        assert answer.status_code == 200
        body = answer.json()[key]
        names = [row["order_id"] for row in rows[asked]]
        assert [one["identifiers"]["order_id"] for one in body] == names
        np.testing.assert_allclose([one["score"] for one in body], scores[asked])
        if path == "/explain":
            for one, expected in zip(body, explanations[asked], strict=True):
                shares = {reason["column"]: reason["contribution"] for reason in one["reasons"]}
                known = {reason.column: reason.contribution for reason in expected.reasons}
                assert shares == pytest.approx(known)
        return len(body)

    with ExitStack() as stack, ThreadPoolExecutor(N_CLIENTS, initializer=start_client) as pool:
        for client in clients:
            stack.enter_context(client)
        counts = list(pool.map(ask, range(N_REQUESTS)))
    assert counts == [1 + number % 10 for number in range(N_REQUESTS)]


@pytest.mark.parametrize(
    ("path", "method", "mode"),
    [
        ("/score", "POST", GenerationMode.POSITIVE),
        ("/score", "POST", GenerationMode.NEGATIVE),
        ("/explain", "POST", GenerationMode.POSITIVE),
        ("/explain", "POST", GenerationMode.NEGATIVE),
        ("/metadata", "GET", GenerationMode.POSITIVE),
        ("/health", "GET", GenerationMode.POSITIVE),
    ],
)
def test_no_request_makes_the_service_fail_or_break_its_own_schema(api, path, method, mode):
    @given(case=api[path][method].as_strategy(generation_mode=mode))
    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    def try_out(case):
        case.call_and_validate()

    try_out()
