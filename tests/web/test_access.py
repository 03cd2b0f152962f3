"""Browsers log in once; forms of other sites are rejected."""

import re
from urllib.parse import quote

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from imboost.web.access import PageAccess, browser_session, csrf_token, form_fields
from imboost.web.addresses import AllowedHosts
from imboost.web.guard import Guard
from imboost.web.limits import RequestLimits
from imboost.web.login import N_ATTEMPTS
from imboost.web.sessions import SessionSigner
from serving_thread import served

TOKEN = "opening sésame"
BROWSER = {"Accept": "text/html"}


async def page(request):
    return PlainTextResponse(csrf_token(request))


async def plain(_):
    return PlainTextResponse("plain")


async def change(request):
    body = await request.body()
    return PlainTextResponse(f"{form_fields(request).get('row')} {len(body)}")


async def who(request):
    return PlainTextResponse(browser_session(request).id)


class Clock:
    """A clock that a test moves."""

    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def protected(token=None, signer=None):
    routes = [
        Route("/", page),
        Route("/plain", plain),
        Route("/static/style.css", plain),
        Route("/health", plain),
        Route("/who", who),
        Route("/change", change, methods=["POST", "PUT", "DELETE"]),
    ]
    access = PageAccess(Starlette(routes=routes), token=token, signer=signer)
    return Guard(access, hosts=AllowedHosts.of("127.0.0.1"), limits=RequestLimits(n_bytes=1 << 22))


@pytest.fixture
def address(clock):
    with served(protected(signer=SessionSigner(clock=clock))) as address:
        yield address


@pytest.fixture
def closed():
    with served(protected(TOKEN)) as address:
        yield address


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address) as client:
        yield client


def log_in(client, token=TOKEN):
    form = client.get("/login", headers=BROWSER)
    [field] = re.findall(r'name="csrf" value="([^"]+)"', form.text)
    return client.post("/login", data={"csrf": field, "token": token}, headers=BROWSER)


def test_a_loopback_page_needs_no_login_but_the_csrf_token(client):
    token = client.get("/").text
    assert client.post("/change", data={"row": "7", "csrf": token}).text.startswith("['7']")
    assert client.post("/change", headers={"X-CSRF-Token": token}).status_code == 200
    assert client.put("/change", json=[1], headers={"X-CSRF-Token": token}).text == "None 3"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_missing_csrf_token_is_rejected(client, method):
    client.get("/")
    answer = client.request(method, "/change", headers={"Content-Type": "application/json"})
    assert answer.status_code == 403
    assert "CSRF token is missing" in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", ""])
def test_a_token_in_a_body_that_is_no_urlencoded_form_does_not_count(client, kind):
    token = client.get("/").text
    content = f"csrf={token}"
    assert (
        client.post("/change", content=content, headers={"Content-Type": kind}).status_code == 403
    )


def test_a_token_of_another_session_is_rejected(address, client):
    client.get("/")
    token = httpx.get(address).text
    answer = client.post("/change", data={"csrf": token})
    assert answer.status_code == 403
    assert "Load the page again" in answer.json()["detail"]
    assert httpx.post(f"{address}/change", data={"csrf": token}).status_code == 403


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
def test_a_request_of_another_site_is_rejected_even_with_the_token(client, headers):
    token = client.get("/").text
    answer = client.post("/change", data={"csrf": token}, headers=headers)
    assert answer.status_code == 403
    assert "another site" in answer.json()["detail"]


def test_a_request_of_the_own_site_is_accepted(address, client):
    headers = {"Origin": address, "Sec-Fetch-Site": "same-origin"}
    token = client.get("/").text
    assert client.post("/change", data={"csrf": token}, headers=headers).status_code == 200


def test_the_cookie_is_protected_and_only_sent_where_it_is_needed(address, client):
    assert "Set-Cookie" not in client.get("/plain").headers
    cookie = client.get("/").headers["Set-Cookie"]
    assert cookie.startswith(f"imboost_{address.rpartition(':')[2]}=")
    assert {"HttpOnly", "SameSite=Strict", "Max-Age=43200"} <= set(cookie.split("; "))
    assert "Set-Cookie" not in client.get("/").headers


def test_an_expired_cookie_is_worth_nothing_and_a_used_one_is_renewed(client, clock):
    token, session = client.get("/").text, client.get("/who").text
    clock.now += 7 * 3600
    assert client.get("/who").text == session  # renewed by this request
    clock.now += 7 * 3600
    assert client.post("/change", data={"csrf": token}).status_code == 200
    [(name, value)] = client.cookies.items()
    clock.now += 13 * 3600
    kept = {"Cookie": f"{name}={value}"}
    assert client.post("/change", data={"csrf": token}, headers=kept).status_code == 403
    assert client.get("/who", headers=kept).text != session


@pytest.mark.parametrize("path", ["/", "/plain", "/change", "/absent"])
def test_without_the_token_nothing_is_shown(closed, path):
    answer = httpx.get(closed + path, headers=BROWSER)
    assert answer.status_code == 401
    assert "<form" in answer.text
    assert "plain" not in answer.text
    assert httpx.get(closed + path).json()["detail"].startswith("Log in first")
    assert httpx.get(f"{closed}/static/style.css").text == "plain"
    assert httpx.get(f"{closed}/health").text == "plain"


def test_a_browser_logs_in_with_the_form(closed):
    with httpx.Client(base_url=closed) as client:
        answer = log_in(client)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")
        token = client.get("/").text
        assert client.post("/change", data={"csrf": token}).status_code == 200
        assert client.get("/login", headers=BROWSER).headers["Location"] == "/"


def test_a_login_starts_a_new_session(closed):
    with httpx.Client(base_url=closed) as client:
        client.get("/login", headers=BROWSER)
        before = dict(client.cookies)
        log_in(client)
        assert dict(client.cookies) != before
        assert httpx.get(f"{closed}/plain", cookies=before).status_code == 401


def test_a_browser_that_logs_out_sees_nothing_any_more(closed):
    with httpx.Client(base_url=closed) as client:
        log_in(client)
        token, cookies = client.get("/").text, dict(client.cookies)
        assert client.post("/logout", data={"csrf": "wrong"}).status_code == 403
        answer = client.post("/logout", data={"csrf": token})
        assert (answer.status_code, answer.headers["Location"]) == (303, "/login")
        assert client.get("/", headers=BROWSER).status_code == 401
    assert httpx.get(closed, headers=BROWSER, cookies=cookies).status_code == 401


def test_a_form_cannot_log_a_browser_in_from_another_site(closed):
    assert httpx.post(f"{closed}/login", data={"token": TOKEN}).status_code == 403


def test_a_token_in_the_address_is_exchanged_for_a_cookie(closed):
    with httpx.Client(base_url=closed) as client:
        answer = client.get(f"/plain?a=1&token={quote(TOKEN)}&b=%26")
        assert (answer.status_code, answer.headers["Location"]) == (303, "/plain?a=1&b=%26")
        assert client.get("/plain").text == "plain"
        again = client.get(f"/plain?token={quote(TOKEN)}")
        assert again.headers["Location"] == "/plain"
    assert httpx.get(f"{closed}/plain?token=wrong").status_code == 401


@pytest.mark.parametrize("path", ["//evil.example", "///evil.example", "/\\evil.example"])
def test_the_redirect_stays_on_this_server(closed, path):
    answer = httpx.get(f"{closed}{path}?token={quote(TOKEN)}")
    location = answer.headers["Location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


def test_many_wrong_tokens_make_a_client_wait(closed):
    with httpx.Client(base_url=closed) as client, httpx.Client(base_url=closed) as inside:
        assert log_in(inside).status_code == 303
        assert [log_in(client, "wrong").status_code for _ in range(N_ATTEMPTS)] == [
            401
        ] * N_ATTEMPTS
        answer = log_in(client)
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["Retry-After"]) <= 12
        assert client.get(f"/plain?token={quote(TOKEN)}").status_code == 429
        assert inside.get("/plain").text == "plain"


def test_a_program_may_send_the_token_itself(closed):
    headers = {"Authorization": f"Bearer {TOKEN}".encode()}
    wrong = {"Authorization": "Bearer wrong"}
    assert httpx.post(f"{closed}/change", headers=headers, json=1).text == "None 1"
    assert httpx.post(f"{closed}/change", headers=wrong, json=1).status_code == 403


def test_forged_cookies_are_worth_nothing(closed):
    name = f"imboost_{closed.rpartition(':')[2]}"
    other = SessionSigner()
    mine = other.write(other.start(is_logged_in=True))
    with httpx.Client(base_url=closed) as client:
        client.get("/login", headers=BROWSER)
        [given] = client.cookies.values()
    raised = given.replace(".0.", ".1.")
    longer = re.sub(r"\.(\d+)\.", lambda end: f".{int(end[1]) + 9}.", given)
    for value in (mine, raised, longer, "", ".", "...", "a.1.9999999999.", "\xff", "x" * 4000):
        headers = {"Cookie": f"{name}={value}".encode("latin-1")}
        assert httpx.get(f"{closed}/plain", headers=headers).status_code == 401, value


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"csrf=%ff", 400),
        (b"csrf=\xff", 400),
        (b"&".join(b"a=%d" % at for at in range(10_001)), 400),
        (b"a=" + b"x" * (1 << 20), 413),
        (b"", 403),
        (b"csrf=", 403),
        (b"csrf=%E2%82%AC", 403),
    ],
    ids=range(7),
)
def test_odd_forms_are_rejected(client, body, status):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/change", content=body, headers=headers).status_code == status
