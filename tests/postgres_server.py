"""A PostgreSQL server of the tests' own, on a free port of the loopback address."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from missing_programs import skip_or_fail

MISSING = "PostgreSQL is not installed: install it (apt install postgresql) to run this test."
START_SECONDS = 60


def programs():
    """Return the folder of PostgreSQL's programs, or None."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


@contextmanager
def run_server():
    """Start a server with a cluster of its own; yield the address of its databases."""
    # PostgreSQL refuses to run as root.
    account: dict[str, Any] = (
        {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    )
    folder = Path(tempfile.mkdtemp(prefix="imboost-postgres-"))
    if account:
        shutil.chown(folder, **account)
    cluster = folder / "cluster"
    quiet: dict[str, Any] = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
        **account,
    }
    initdb = [programs() / "initdb", "-D", cluster, "-A", "trust", "-U", "tester", "-E", "UTF8"]
    subprocess.run([*initdb, "--no-sync"], check=True, **quiet)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "fsync": "off",  # the server itself is never killed
    }
    options = [f"--{name}={value}" for name, value in settings.items()]
    address = f"postgresql://tester@127.0.0.1:{port}"
    server = subprocess.Popen([programs() / "postgres", "-D", cluster, *options], **quiet)
    try:
        _wait_for(address, server)
        yield address
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: nothing is kept
        server.wait(START_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(address, server):
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            psycopg.connect(f"{address}/postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("PostgreSQL did not start.")


@pytest.fixture(scope="session")
def postgres_server():
    """The address of a server, started once per test process."""
    if find_spec("psycopg") is None:
        skip_or_fail("psycopg is not installed: pip install 'imboost[postgres]'.")
    if programs() is None:
        skip_or_fail(MISSING)
    with run_server() as address:
        yield address


_numbers = count()


def postgres_database(server):
    """Create an empty database and return its address."""
    import psycopg

    name = f"test_{next(_numbers)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"


@pytest.fixture
def postgres(postgres_server):
    """The address of an empty database."""
    return postgres_database(postgres_server)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The address of an empty store, in each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "table.session")
    return request.getfixturevalue("postgres")
