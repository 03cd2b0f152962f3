"""The server survives clients that are too many, too slow or malformed."""

import asyncio
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from imboost.web.limits import ConnectionLimits
from imboost.web.repeated_messages import QUIET_SECONDS, RepeatedMessages, without_repeats
from imboost.web.server import BACKLOG, LOGGERS, N_OTHER_FILES, Server, listen, run_server
from serving_thread import served

PATIENCE = 20  # seconds after which a test gives up
N_LARGE = 50_000_000


async def hello(_):
    return PlainTextResponse("hello")


async def echo(request):
    return PlainTextResponse(await request.body())


async def ignore(_):
    return PlainTextResponse("ignored")


async def large(_):
    return PlainTextResponse(b"x" * N_LARGE)


APP = Starlette(
    routes=[
        Route("/hello", hello),
        Route("/echo", echo, methods=["POST"]),
        Route("/ignore", ignore, methods=["POST"]),
        Route("/large", large),
    ]
)


def connect(address):
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def is_closed(connection):
    """Wait for the server to close a connection; return whether it has, without any answer."""
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def log(capfd):
    """Return a function that reads the log of the server as `run_server` writes it."""
    with without_repeats(LOGGERS):
        yield lambda: capfd.readouterr().err


def test_connections_beyond_the_limit_are_closed_and_logged_once(log):
    with served(APP, ConnectionLimits(n_connections=20)) as address:
        flood = [connect(address) for _ in range(100)]
        for connection in flood[20:]:
            assert is_closed(connection)
        flood[0].sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"200 OK" in flood[0].recv(100)
        for connection in flood:
            connection.close()
        assert _first_answer(address).text == "hello"
    [line] = log().splitlines()
    assert "Closed a connection" in line
    assert "--max-connections" in line


@pytest.mark.parametrize(
    "start", [b"", b"GET /hello HTTP/1.1\r\nHost: x\r\n"], ids=["none", "half"]
)
def test_a_head_that_does_not_arrive_closes_the_connection(start):
    with (
        served(APP, ConnectionLimits(head_seconds=0.2)) as address,
        connect(address) as connection,
    ):
        connection.sendall(start)
        assert is_closed(connection)


def test_a_head_that_arrives_byte_by_byte_closes_the_connection():
    with (
        served(APP, ConnectionLimits(head_seconds=0.3)) as address,
        connect(address) as connection,
    ):
        assert _drip(connection, b"GET /hello HTTP/1.1\r\nX: ")


def test_a_second_head_has_the_same_limit():
    with (
        served(APP, ConnectionLimits(head_seconds=0.3, idle_seconds=60)) as address,
        connect(address) as connection,
    ):
        connection.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in connection.recv(1000)
        assert _drip(connection, b"GET /hello HTTP/1.1\r\nX: ")


@pytest.mark.parametrize("path", [b"/echo", b"/ignore"])
def test_a_body_that_arrives_byte_by_byte_closes_the_connection(path):
    with (
        served(APP, ConnectionLimits(body_seconds=0.3, head_seconds=60)) as address,
        connect(address) as connection,
    ):
        head = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n"
        assert _drip(connection, head)


def test_an_idle_connection_is_closed():
    with served(APP, ConnectionLimits(idle_seconds=1)) as address, connect(address) as connection:
        connection.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        assert _all_of(connection).endswith(b"hello")


def test_a_client_that_reads_nothing_is_cut_off():
    with (
        served(APP, ConnectionLimits(stalled_seconds=0.3, n_connections=1)) as address,
        connect(address) as connection,
    ):
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert _first_answer(address).text == "hello"


def test_a_client_that_reads_slowly_gets_everything():
    with (
        served(APP, ConnectionLimits(stalled_seconds=0.3)) as address,
        httpx.stream("GET", f"{address}/large") as answer,
    ):
        n_bytes = 0
        for at, part in enumerate(answer.iter_raw(5_000_000)):
            time.sleep(0.1 if at < 6 else 0)
            n_bytes += len(part)
    assert n_bytes == N_LARGE


def test_a_head_that_is_too_large_is_rejected():
    with served(APP) as address:
        with connect(address) as connection:
            lines = [b"X-%d: %s" % (at, b"x" * 100) for at in range(10_000)]
            head = b"\r\n".join([b"GET /hello HTTP/1.1", b"Host: x", *lines, b"", b""])
            with suppress(OSError):  # closed while it was sent
                connection.sendall(head)
            answer = _all_of(connection)
        assert answer == b"" or b"400 Bad Request" in answer
        assert _first_answer(address).text == "hello"


def test_malformed_requests_are_rejected_and_logged_once(log):
    with served(APP) as address:
        for _ in range(30):
            with connect(address) as connection:
                connection.sendall(b"\x16\x03\x01 not HTTP\r\n\r\n")
                assert b"400 Bad Request" in connection.recv(1000)
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
        assert httpx.get(f"{address}/hello", headers=upgrade).text == "hello"
    [line] = log().splitlines()
    assert "Invalid HTTP request" in line


def test_responses_do_not_wait_for_acknowledgements():
    async def option_of_a_connection():
        with listen("127.0.0.1", 0) as listener:
            server = Server(APP, ConnectionLimits())
            running = asyncio.create_task(server.serve(sockets=[listener]))
            _, writer = await asyncio.open_connection(*listener.getsockname())
            while not server.server_state.connections:
                await asyncio.sleep(0.01)
            [connection] = server.server_state.connections
            own_end = connection.transport.get_extra_info("socket")
            option = own_end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()
            server.should_exit = True
            await running
        return option

    assert asyncio.run(option_of_a_connection())


def test_left_out_messages_are_counted():
    now = 0.0
    limit = RepeatedMessages(lambda: now)

    def passed(text, *args):
        record = logging.LogRecord("x", logging.WARNING, "", 0, text, args, None)
        return record.getMessage() if limit.filter(record) else None

    assert passed("%d open", 5) == "5 open"
    assert [passed("%d open", at) for at in range(1200)] == [None] * 1200
    assert passed("another") == "another"
    now = QUIET_SECONDS
    assert passed("%d open", 6) == "6 open (1,200 more such messages were left out)"
    now *= 2
    assert passed("%d open", 7) == "7 open"


def test_errors_of_different_origin_are_all_logged():
    limit = RepeatedMessages()

    def passed(work):
        try:
            work()
        except ArithmeticError:
            error = sys.exc_info()
        return limit.filter(logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), error))

    works = [lambda: 1 / 0, lambda: 1.0 / 0]
    assert [passed(work) for work in (*works, *works)] == [True, False, False, False]

    def other():
        raise OverflowError

    assert passed(other)


def test_the_number_of_connections_fits_the_open_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_files = N_OTHER_FILES + BACKLOG + 40
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, hard))
    try:
        server = Server(APP, ConnectionLimits(n_connections=1000))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert server.config.http.keywords["limits"].n_connections == 40


PROGRAM = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
sys.path.insert(0, {folder!r})
from test_server import APP
from imboost.web.limits import ConnectionLimits
from imboost.web.server import run_server
held = [open("/dev/null") for _ in range({n_held})]
run_server(APP, "127.0.0.1", 0, limits=ConnectionLimits(head_seconds=1.0),
           on_ready=lambda address: print(address, flush=True), access_log=Path({log!r}))
print("stopped")
"""


@pytest.mark.parametrize("n_held", [0, 220], ids=["flood", "no file descriptors"])
def test_the_program_survives_a_flood_and_stops_cleanly(tmp_path, n_held):
    log = tmp_path / "access.log"
    folder = Path(__file__).parent
    code = PROGRAM.format(folder=str(folder), log=str(log), n_held=n_held)
    path = os.pathsep.join([str(folder.parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as program:
        address = program.stdout.readline().strip()
        flood = []
        for _ in range(400):
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", int(address.rpartition(":")[2])))
            flood.append(connection)
        time.sleep(0.5)
        for connection in flood:
            connection.close()
        assert _first_answer(address, "/hello?secret=1").text == "hello"
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=PATIENCE)
    assert (program.returncode, out) == (0, "stopped\n")
    assert 1 <= err.count("Closed a connection") + err.count("out of system resource") <= 2
    assert "secret" not in log.read_text()


def test_the_access_log_has_a_line_per_request(tmp_path, capsys):
    log = tmp_path / "access.log"

    def use(address):
        httpx.get(f"{address}/hello?token=secret")
        httpx.get(f"{address}/a%0Ab")
        httpx.post(f"{address}/echo", content=b"12345")
        signal.raise_signal(signal.SIGINT)

    def on_ready(address):
        threading.Thread(target=use, args=(address,)).start()

    run_server(APP, "127.0.0.1", 0, on_ready=on_ready, access_log=log, verbose=True)
    lines = log.read_text().splitlines()
    assert lines == capsys.readouterr().err.splitlines()
    fields = [line.split()[2:] for line in lines]
    assert [one[:4] + one[5:] for one in fields] == [
        ["127.0.0.1", "GET", "/hello", "200", "5"],
        ["127.0.0.1", "GET", "/a%0Ab", "404", "9"],
        ["127.0.0.1", "POST", "/echo", "200", "5"],
    ]
    assert all(float(one[4]) >= 0 for one in fields)


def _drip(connection, head):
    """Send a head, then a byte at a time; return whether the server closes the connection."""
    connection.sendall(head)
    end = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            connection.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        return True
    return False


def _first_answer(address, path="/hello"):
    """Return the first answer of a server that may have no free connection yet."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return httpx.get(address + path)
        except httpx.TransportError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def _all_of(connection):
    """Return what the server sends until it closes a connection."""
    parts = []
    with suppress(OSError):
        while part := connection.recv(1000):
            parts.append(part)
    return b"".join(parts)
