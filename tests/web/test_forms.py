"""Forms with a file: the CSRF token is read, and the application gets the whole body."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from imboost.web.access import PageAccess
from imboost.web.addresses import AllowedHosts
from imboost.web.forms import form_fields
from imboost.web.guard import Guard
from imboost.web.limits import RequestLimits
from imboost.web.visits import CSRF_FIELD, csrf_token
from serving_thread import served

SIZES = [0, 10, 8_000, 70_000, 3_000_000]


async def page(request):
    return PlainTextResponse(csrf_token(request))


async def upload(request):
    async with request.form() as form:
        content = await form["file"].read()
    return JSONResponse({"size": len(content), "fields": form_fields(request)})


@pytest.fixture
def client():
    routes = [Route("/", page), Route("/upload", upload, methods=["POST"])]
    access = PageAccess(Starlette(routes=routes), token=None)
    limits = RequestLimits(n_bytes=1 << 22)
    guard = Guard(access, hosts=AllowedHosts.of("127.0.0.1"), limits=limits)
    with served(guard) as address, httpx.Client(base_url=address) as client:
        yield client


@pytest.mark.parametrize("size", SIZES)
def test_a_file_of_any_size_arrives_with_the_token_of_the_page(client, size):
    fields = {CSRF_FIELD: client.get("/").text, "note": "a\r\nb"}
    answer = client.post("/upload", data=fields, files={"file": ("name.json", b"x" * size)})
    assert answer.json()["size"] == size
    assert answer.json()["fields"] == {name: [value] for name, value in fields.items()}


def test_an_upload_without_the_token_is_rejected(client):
    client.get("/")
    assert client.post("/upload", files={"file": b"x"}).status_code == 403


def test_a_token_in_the_file_does_not_count(client):
    token = client.get("/").text
    for name in (CSRF_FIELD, "file"):
        files = {name: ("name", f'name="{CSRF_FIELD}"\r\n\r\n{token}')}
        assert client.post("/upload", files=files).status_code == 403


@pytest.mark.parametrize("kind", ["", "; boundary=", "; boundary=y", "; boundary=\xff"])
def test_an_upload_without_its_boundary_is_rejected(client, kind):
    token = client.get("/").text
    body = f'--x\r\nContent-Disposition: form-data; name="{CSRF_FIELD}"\r\n\r\n{token}\r\n--x--'
    headers = {"Content-Type": f"multipart/form-data{kind}".encode("latin-1")}
    assert client.post("/upload", content=body, headers=headers).status_code == 403
