"""Where there is a token, browsers log in once and get a signed cookie."""

import time
from contextlib import contextmanager

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

from imboost.labelling.app import make_app
from imboost.labelling.login import SESSION_SECONDS, add_login, visitor_of
from labelling_project import make_project, start, write_orders
from serving_thread import served

TOKEN = "opening sésame"
BROWSER = {"Accept": "text/html"}


@contextmanager
def protected(cookie="imboost_1"):
    """Serve an application that asks for the token."""
    app = FastAPI()

    @app.get("/who")
    def who(request: Request):
        return PlainTextResponse(f"visitor {visitor_of(request.scope)}")

    @app.get("/static/style.css")
    @app.get("/health")
    def open_to_everybody():
        return PlainTextResponse("open")

    add_login(app, TOKEN, cookie)
    with served(app) as address:
        yield address


@pytest.fixture(scope="module")
def address():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imboost.web.guard.WRONG_TOKEN_SECONDS", 0.0)
        with protected() as address:
            yield address


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address, headers=BROWSER) as client:
        yield client


def test_without_the_token_nothing_is_shown(client):
    for path in ("/who", "/absent", "/download/answers.csv", "/login/who", "/healthy"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/login")
        for headers in ({"Accept": "*/*"}, {"HX-Request": "true"}):
            answer = client.get(path, headers=headers)
            assert answer.status_code == 401
            assert answer.json()["detail"].startswith("Log in first")
    for path in ("/static/style.css", "/health"):
        assert client.get(path).text == "open"


def test_a_browser_logs_in_with_the_form_and_out_again(client):
    assert "<form" in client.get("/login").text
    answer = client.post("/login", data={"token": TOKEN})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert client.get("/who").text.startswith("visitor ")
    assert client.post("/logout").headers["Location"] == "/login"
    assert client.get("/who").status_code == 303


def test_a_token_in_the_address_is_exchanged_for_a_cookie(client):
    answer = client.get("/login", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert client.get("/who").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + " "])
def test_a_wrong_token_is_refused(client, token):
    for answer in (
        client.post("/login", data={"token": token}),
        client.get("/login", params={"token": token}),
    ):
        assert answer.status_code == 401
        assert "The token is wrong" in answer.text
    assert client.get("/who").status_code == 303


def test_the_cookie_is_protected(client):
    cookie = client.post("/login", data={"token": TOKEN}).headers["Set-Cookie"].lower()
    assert cookie.startswith("imboost_1=")
    parts = {part.strip() for part in cookie.split(";")}
    assert {"httponly", "samesite=strict", f"max-age={SESSION_SECONDS}"} <= parts


def test_forged_and_expired_cookies_are_worth_nothing(address, client, monkeypatch):
    client.post("/login", data={"token": TOKEN})
    [given] = client.cookies.values()
    with protected() as other, httpx.Client(base_url=other) as elsewhere:
        elsewhere.post("/login", data={"token": TOKEN})
        [of_another_server] = elsewhere.cookies.values()
    payload, _, signature = given.partition(".")
    forged = (of_another_server, f"{payload}x.{signature}", payload, "", ".", "x" * 4000)
    for value in forged:
        answer = httpx.get(f"{address}/who", headers={"Cookie": f"imboost_1={value}"})
        assert answer.status_code == 401, value
    kept = {"Cookie": f"imboost_1={given}"}
    assert httpx.get(f"{address}/who", headers=kept).status_code == 200
    now = time.time()
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: now + SESSION_SECONDS + 2)
    assert httpx.get(f"{address}/who", headers=kept).status_code == 401


@pytest.fixture
def project(tmp_path):
    project = make_project(write_orders(tmp_path)[0])
    yield project
    project.close()


def test_the_page_shows_nothing_of_the_table_before_the_login(project):
    project.open()
    with (
        served(make_app(project, token="secret")) as address,
        httpx.Client(base_url=address, headers=BROWSER, follow_redirects=True) as client,
    ):
        for path in ("/columns", "/login", "/static/none.css", "/login/none", "/none"):
            assert "orders.csv" not in client.get(path).text
        assert "orders.csv" not in client.put("/login").text
        assert client.post("/columns", data={"action": "start"}).url.path == "/login"
        assert project.workspace is None
        client.get("/login?token=secret")
        assert "Distribution" in client.get("/columns").text


def test_people_who_log_in_without_a_name_are_different_people(project):
    start(project)
    questions = []
    with served(make_app(project, token="secret")) as address:
        for _ in range(2):
            with httpx.Client(base_url=address, follow_redirects=True) as client:
                page = client.get("/login?token=secret").text
                questions.append(page.split('data-row="')[1].split('"')[0])
    assert questions[0] != questions[1]
