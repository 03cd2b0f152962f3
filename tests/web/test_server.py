"""The server limits its connections, logs requests and stops cleanly."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from imboost.web.server import listen, make_server
from serving_thread import served


async def hello(_):
    return PlainTextResponse("hello")


async def echo(request):
    return PlainTextResponse(await request.body())


APP = Starlette(routes=[Route("/hello", hello), Route("/echo", echo, methods=["POST"])])


def connect(address):
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def test_requests_beyond_the_number_of_connections_are_refused():
    with served(APP, max_connections=2) as address, httpx.Client(base_url=address) as client:
        assert client.get("/hello").text == "hello"
        with httpx.Client(base_url=address) as second:
            assert second.get("/hello").text == "hello"
            assert httpx.get(f"{address}/hello").status_code == 503


def test_a_head_that_is_too_large_is_refused():
    with served(APP) as address:
        with connect(address) as connection, suppress(OSError):  # closed while it is sent
            lines = [b"X-%d: %s" % (at, b"x" * 100) for at in range(10_000)]
            head = b"\r\n".join([b"GET /hello HTTP/1.1", b"Host: x", *lines, b"", b""])
            connection.sendall(head)
            assert connection.recv(1000).startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert httpx.get(f"{address}/hello").text == "hello"


def test_responses_do_not_wait_for_acknowledgements():
    async def option_of_a_connection():
        with listen("127.0.0.1", 0) as listener:
            server = make_server(APP)
            running = asyncio.create_task(server.serve(sockets=[listener]))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            [connection] = server.server_state.connections
            own_end = connection.transport.get_extra_info("socket")
            option = own_end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()
            server.should_exit = True
            await running
        return option

    assert asyncio.run(option_of_a_connection())


PROGRAM = """
from pathlib import Path
from test_server import APP
from imboost.web.server import run_server
run_server(APP, "127.0.0.1", 0, on_ready=lambda address: print(address, flush=True),
           access_log=Path({log!r}), verbose=True)
print("stopped")
"""


def test_the_program_logs_requests_and_stops_cleanly(tmp_path):
    log = tmp_path / "access.log"
    folders = [str(folder) for folder in Path(__file__).parents[:2]]
    path = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(log=str(log))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as program:
        address = program.stdout.readline().strip()
        assert httpx.get(f"{address}/hello").text == "hello"
        assert httpx.get(f"{address}/a%0Ab").status_code == 404
        assert httpx.post(f"{address}/echo", content=b"12345").text == "12345"
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=20)
    assert (program.returncode, out) == (0, "stopped\n")
    lines = log.read_text().splitlines()
    assert lines == err.splitlines()
    assert [line.split('"', 1)[1] for line in lines] == [
        'GET /hello HTTP/1.1" 200 OK',
        'GET /a%0Ab HTTP/1.1" 404 Not Found',
        'POST /echo HTTP/1.1" 200 OK',
    ]
    assert all("127.0.0.1" in line for line in lines)
