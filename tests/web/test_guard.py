"""Every request is checked and every response protected, whatever the application does."""

import asyncio
import socket

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from imboost.web.guard import Guard, error_response
from imboost.web.hosts import AllowedHosts, is_loopback
from serving_thread import served

N_BYTES = 1000


async def hello(_):
    return PlainTextResponse("hello")


async def echo(request):
    return PlainTextResponse(await request.body())


async def cached(_):
    return PlainTextResponse("style", headers={"Cache-Control": "max-age=60"})


async def fail(_):
    raise RuntimeError("a secret")


APP = Starlette(
    routes=[
        Route("/", hello, methods=["GET"]),
        Route("/echo", echo, methods=["POST", "PUT", "DELETE"]),
        Route("/cached", cached),
        Route("/fail", fail),
    ]
)
APP.routes[0].methods.discard("HEAD")  # as in FastAPI, which answers no HEAD by itself


@pytest.fixture(scope="module")
def address():
    guarded = Guard(APP, hosts=AllowedHosts.of("127.0.0.1"), max_bytes=N_BYTES)
    with served(guarded) as address:
        yield address


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address) as client:
        yield client


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
        "10.0.0.1",
        "[::2]",
        "x@127.0.0.1",
    ],
)
def test_a_request_to_another_host_is_refused(client, host):
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 400
    assert answer.json().keys() == {"detail"}
    assert "Host" in answer.json()["detail"]
    assert "--" not in answer.json()["detail"]


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:5", "localhost.:8"]
)
def test_loopback_names_are_answered_on_any_port(client, host):
    assert client.get("/", headers={"Host": host}).text == "hello"


def test_a_server_on_all_addresses_answers_addresses_and_given_names():
    hosts = AllowedHosts.of("0.0.0.0", ["Scores.example"])
    for name in ("192.0.2.7:80", "[2001:db8::1]:80", "scores.example", socket.gethostname()):
        assert hosts.allow(name), name
    assert not hosts.allow("evil.example")
    assert AllowedHosts.of("192.0.2.7").allow("192.0.2.7")
    assert not AllowedHosts.of("192.0.2.7").allow("192.0.2.8")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_addresses_of_this_machine_are_loopback(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_other_addresses_are_not_loopback(host):
    assert not is_loopback(host)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "ODD"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_request_of_another_site_is_refused(client, method, headers):
    answer = client.request(method, "/echo", headers=headers)
    assert answer.status_code == 403
    assert "another site" in answer.json()["detail"]


def test_requests_of_this_site_and_of_programs_are_answered(address, client):
    for headers in (
        {},
        {"Origin": address},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        # A reverse proxy may pass another Host on; the browser has compared the addresses.
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://labels.example"},
    ):
        assert client.post("/echo", content="x", headers=headers).text == "x"
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).text == "hello"


@pytest.mark.parametrize("path", ["/", "/fail", "/absent"])
def test_every_response_has_the_security_headers(client, path):
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"


def test_refusals_have_the_security_headers_too(client):
    headers = client.get("/", headers={"Host": "evil.example"}).headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_a_header_that_the_application_sets_is_kept(client):
    assert client.get("/cached").headers["Cache-Control"] == "max-age=60"


def test_a_failure_shows_nothing_of_the_error(client):
    assert "a secret" not in client.get("/fail").text


def test_head_is_answered_as_get_without_the_body(client):
    answer = client.head("/")
    assert (answer.status_code, answer.text) == (200, "")
    assert answer.headers["Content-Length"] == "5"


@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "counted"])
def test_a_large_body_is_refused(client, is_declared):
    content = b"x" * (N_BYTES + 1)
    parts = content if is_declared else iter([content[:500], content[500:]])
    answer = client.post("/echo", content=parts)
    assert answer.status_code == 413
    assert "1,000 bytes" in answer.text
    assert client.post("/echo", content=b"x" * N_BYTES).status_code == 200


def test_a_body_that_is_declared_too_large_is_not_read():
    async def fail(*_):
        raise AssertionError("the body was read")

    statuses = []

    async def send(message):
        statuses.append(message.get("status"))

    headers = [(b"host", b"localhost"), (b"content-length", b"1001")]
    scope = {"type": "http", "method": "POST", "path": "/echo", "headers": headers}
    guarded = Guard(APP, hosts=AllowedHosts(), max_bytes=N_BYTES)
    asyncio.run(guarded(scope, fail, send))
    assert statuses[0] == 413


def test_the_parts_of_a_body_count_together():
    parts = iter([b"x" * 600, b"x" * 600])
    statuses = []

    async def receive():
        return {"type": "http.request", "body": next(parts), "more_body": True}

    async def send(message):
        statuses.append(message.get("status"))

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/echo", "headers": headers}
    guarded = Guard(APP, hosts=AllowedHosts(), max_bytes=N_BYTES)
    asyncio.run(guarded(scope, receive, send))
    assert statuses[0] == 413


def test_an_error_about_text_that_is_no_unicode_can_be_sent():
    assert error_response(422, "\ud800 is no role").body == b'{"detail":"? is no role"}'
