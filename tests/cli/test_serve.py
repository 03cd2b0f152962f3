"""`imboost serve`: the address, the token and the limits."""

import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import util

import httpx
import pytest

from program_running import orders, refused, run_well, write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    run_well("fit", write(orders(), folder / "orders.csv"), "--detector", "trees")
    return folder / "orders.model"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_an_open_address_needs_a_token(model, host):
    line = refused("serve", model, "--host", host)
    assert f"{host} can be reached from other machines" in line
    assert "IMBOOST_TOKEN" in line


def test_an_empty_token_is_none(model):
    assert "token is empty" in refused("serve", model, "--token", " ")


def test_a_port_that_is_taken_is_reported(model):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        line = refused("serve", model, "--port", taken.getsockname()[1])
    assert "in use" in line


def test_missing_packages_are_reported(model, monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(
        "imboost.errors.find_spec", lambda name: None if name == "uvicorn" else find(name)
    )
    line = refused("serve", model)
    assert "imboost serve needs uvicorn" in line
    assert "pip install 'imboost[serve]'" in line


def test_a_limit_out_of_range_is_reported(model):
    assert "--timeout must be above 0" in refused("serve", model, "--timeout", "0")


def test_the_real_program_answers_until_it_is_stopped(model):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = "from imboost.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", command, "serve", str(model), "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "IMBOOST_TOKEN": "secret"},
    ) as program:
        try:
            address = f"http://127.0.0.1:{port}"
            answer = _wait_for(f"{address}/health")
            assert answer.json() == {"status": "ok"}
            assert httpx.get(f"{address}/metadata").status_code == 401
            headers = {"Authorization": "Bearer secret"}
            assert httpx.get(f"{address}/metadata", headers=headers).json()["detector"] == "Trees"
            rows = orders(20).drop_columns(["ordered", "shipped"]).to_pylist()
            rows = [{**row, "ordered": None, "shipped": None} for row in rows]
            with ThreadPoolExecutor(8) as pool:
                asked = [
                    pool.submit(
                        httpx.post, f"{address}/score", json={"rows": rows}, headers=headers
                    )
                    for _ in range(40)
                ]
            assert {answer.result().status_code for answer in asked} == {200}
        finally:
            program.terminate()
        out, err = program.communicate(timeout=30)
    assert f"at {address}: POST" in out
    assert err == ""


def _wait_for(address):
    for _ in range(300):
        try:
            return httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the service did not start")
