"""Every request is checked and every response protected, whatever the application does."""

import asyncio
import socket

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from imboost.web.addresses import AllowedHosts
from imboost.web.guard import METHODS, Guard
from imboost.web.limits import RequestLimits
from serving_thread import served

LIMITS = RequestLimits(n_bytes=1000, n_bytes_held=1500, seconds=5)


async def hello(_):
    return PlainTextResponse("hello")


async def echo(request):
    return PlainTextResponse(await request.body())


async def cached(_):
    return PlainTextResponse("style", headers={"Cache-Control": "max-age=60"})


async def fail(_):
    raise RuntimeError("a secret")


async def wait(_):
    await asyncio.sleep(60)


async def stream(_):
    async def parts():
        while True:
            yield b"part"
            await asyncio.sleep(0.01)

    return StreamingResponse(parts())


async def follow(request):
    """Stream for longer than a request may take."""

    async def parts():
        for _ in range(5):
            yield b"part"
            await asyncio.sleep(0.1)

    return StreamingResponse(parts())


def guarded(limits=LIMITS, hosts=None):
    routes = [
        Route("/", hello, methods=["GET"]),
        Route("/echo", echo, methods=["POST"]),
        Route("/cached", cached),
        Route("/fail", fail),
        Route("/wait", wait),
        Route("/stream", stream),
        Route("/follow", follow),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return Guard(app, hosts=hosts or AllowedHosts.of("127.0.0.1"), limits=limits)


@pytest.fixture(scope="module")
def address():
    with served(guarded()) as address:
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
def test_a_request_to_another_host_is_rejected(client, host):
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 400
    assert "Location" not in answer.headers
    assert "--allowed-host" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:5"])
def test_loopback_names_are_answered_on_any_port(client, host):
    assert client.get("/", headers={"Host": host}).text == "hello"


def test_a_server_on_all_addresses_answers_addresses_and_given_names():
    hosts = AllowedHosts.of("0.0.0.0", ["Scores.example"])
    for name in ("192.0.2.7:80", "[2001:db8::1]:80", "scores.example", socket.gethostname()):
        assert hosts.allow(name), name
    assert not hosts.allow("evil.example")
    assert AllowedHosts.of("192.0.2.7").allow("192.0.2.7")
    assert not AllowedHosts.of("192.0.2.7").allow("192.0.2.8")


def test_a_trailing_slash_is_not_redirected(client):
    answer = client.get("/cached/", headers={"Host": "localhost"})
    assert (answer.status_code, "Location" in answer.headers) == (404, False)


def test_a_rejection_is_text_for_browsers_and_json_for_programs(client):
    page = client.get("/", headers={"Host": "x", "Accept": "text/html,*/*"})
    assert page.headers["Content-Type"].startswith("text/plain")
    assert client.get("/", headers={"Host": "x"}).json().keys() == {"detail"}


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
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"
    assert "Server" not in headers


def test_a_response_keeps_its_own_headers(client):
    assert client.get("/cached").headers["Cache-Control"] == "max-age=60"


def test_head_is_answered_wherever_get_is(client):
    for path in ("/", "/cached", "/absent", "/stream"):
        answer = client.head(path)
        assert answer.content == b""
        if path != "/stream":
            whole = client.get(path)
            assert answer.status_code == whole.status_code
            assert answer.headers["Content-Length"] == whole.headers["Content-Length"]


@pytest.mark.parametrize("method", ["BREW", "TRACE", "CONNECT", "PROPFIND"])
def test_an_unknown_method_is_rejected(client, method):
    answer = client.request(method, "/")
    assert answer.status_code == 405
    assert answer.headers["Allow"] == ", ".join(METHODS)


def test_a_known_method_that_a_path_lacks_is_rejected(client):
    answer = client.delete("/")
    assert answer.status_code == 405
    assert {one.strip() for one in answer.headers["Allow"].split(",")} == {"GET", "HEAD"}


@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "counted"])
def test_a_large_body_is_rejected(client, is_declared):
    content = b"x" * 1001
    answer = client.post(
        "/echo", content=content if is_declared else iter([content[:500], content[500:]])
    )
    assert answer.status_code == 413
    assert "1,000 bytes" in answer.text
    assert client.post("/echo", content=b"x" * 1000).status_code == 200


def test_all_bodies_together_are_limited():
    async def post(app, first):
        """Send the first part of a body, and never the rest."""
        parts, sent = [first], []

        async def receive():
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": True}
            return await asyncio.sleep(60)

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/echo",
            "headers": [(b"host", b"localhost")],
            "query_string": b"",
            "root_path": "",
        }
        await app(scope, receive, send)
        return sent[0]["status"]

    async def try_out():
        app = guarded()
        held = asyncio.create_task(post(app, b"x" * 800))
        await asyncio.sleep(0)
        assert await post(app, b"x" * 800) == 503
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
        second = asyncio.create_task(post(app, b"x" * 800))
        await asyncio.sleep(0.05)
        assert not second.done()
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)

    asyncio.run(try_out())


def test_many_headers_are_rejected(client):
    answer = client.get("/", headers={f"X-{at}": "1" for at in range(200)})
    assert answer.status_code == 431


def test_a_request_that_takes_too_long_is_given_up():
    with served(guarded(RequestLimits(seconds=0.2))) as address:
        answer = httpx.get(f"{address}/wait")
        assert answer.status_code == 504
        assert "longer than 0.2 seconds" in answer.json()["detail"]
        assert httpx.get(f"{address}/follow").text == "part" * 5
