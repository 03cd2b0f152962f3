"""`imboost label`: where tables and sessions are found, and the program as a user runs it."""

import io
import os
import re
import signal
import socket
import subprocess
import sys
import time
from importlib import util

import httpx
import pytest

from answered_orders import write_orders
from imboost import Session
from imboost.cli.label import DEFAULT_PORT, _choose_port, _open_browser
from imboost.cli.label_source import find_source
from imboost.errors import DataError, SettingError
from program_running import refused, run_well


@pytest.fixture
def orders(tmp_path):
    return write_orders(tmp_path)


def label(orders, keys, monkeypatch, *options):
    """Answer in the terminal; return the lines that were printed."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(keys)))
    return run_well("label", orders, "--terminal", "--detector", "trees", *options)


def test_the_session_is_stored_beside_the_table(orders, monkeypatch):
    ended = label(orders, "oiq", monkeypatch)
    path = orders.with_name("orders.session.db")
    assert f"Session: {path}, 0 answers so far." in ended.lines
    assert ended.lines[-1] == f"2 answers stored in {path}."
    with Session.open(path) as session:
        assert len(session.history) == 2


def test_a_session_continues_by_its_table_and_by_its_file(orders, monkeypatch):
    label(orders, "oq", monkeypatch)
    path = orders.with_name("orders.session.db")
    for n_before, given in ((1, orders), (2, path)):
        monkeypatch.setattr(sys, "stdin", io.StringIO("i\nq\n"))
        ended = run_well("label", given, "--terminal", "--who", "Ada")
        assert f"{n_before} answer" in next(line for line in ended.lines if "so far" in line)
    with Session.open(path) as session:
        assert [entry.who for entry in session.history] == ["", "Ada", "Ada"]


def test_settings_of_a_stored_session_cannot_be_changed(orders, monkeypatch):
    label(orders, "oq", monkeypatch)
    line = refused("label", orders, "--terminal", "--seed", "1")
    assert "exists and keeps its settings: leave out --seed" in line


def test_a_store_holds_several_sessions(orders, monkeypatch):
    label(orders, "oq", monkeypatch)
    label(orders, "iiq", monkeypatch, "--name", "second")
    path = orders.with_name("orders.session.db")
    with Session.open(path, name="second") as session:
        assert len(session.history) == 2


def test_roles_are_used_and_wrong_ones_are_refused(orders, monkeypatch):
    ended = label(orders, "q", monkeypatch, "--role", "visits=ignored")
    assert "visits" in ended.text
    path = orders.with_name("orders.session.db")
    with Session.open(path) as session:
        assert session.detector.roles == {"visits": "ignored"}
    assert "NAME=ROLE" in refused("label", orders, "--terminal", "--role", "visits")


def test_text_that_stands_for_a_missing_value_is_given_once_and_kept(tmp_path, monkeypatch):
    data = tmp_path / "prices.csv"
    prices = ["n.d." if row % 4 == 0 else f"{row}.5" for row in range(40)]
    data.write_text("price,size\n" + "".join(f"{price},{len(price)}\n" for price in prices))
    ended = label(data, "oq", monkeypatch, "--missing", "n.d.")
    assert re.search(r"price\W+numeric\W+10\W", ended.text)
    with Session.open(data.with_name("prices.session.db")) as session:
        assert session.detector.missing_values == ["n.d."]
    line = refused("label", data, "--terminal", "--missing", "n.d.")
    assert "keeps its settings: leave out --missing" in line


def test_roles_come_from_a_file_and_single_ones_have_precedence(orders, monkeypatch, tmp_path):
    roles = tmp_path / "roles.toml"
    roles.write_text('[roles]\n"visits" = "ignored"\n"amount" = "ignored"\n')
    label(orders, "q", monkeypatch, "--roles", roles, "--role", "amount=numeric")
    with Session.open(orders.with_name("orders.session.db")) as session:
        assert session.detector.roles == {"visits": "ignored"}


def test_a_model_gives_roles_and_settings(orders, monkeypatch, tmp_path):
    run_well("fit", orders, "--detector", "trees", "--role", "visits=ignored")
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    ended = run_well("label", orders, "--terminal", "--model", tmp_path / "orders.model")
    assert re.search(r"visits\W+ignored", ended.text)
    with Session.open(orders.with_name("orders.session.db")) as session:
        assert session.detector.roles["visits"] == "ignored"
        assert type(session.detector.detector).__name__ == "Trees"


def test_a_model_in_place_of_the_table_is_explained(orders):
    run_well("fit", orders, "--detector", "trees")
    model = orders.with_name("orders.model")
    line = refused("label", model)
    assert f"{model} is a model, which holds no table: imboost label --model {model} DATA" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--second-opinions", "2"], "--second-opinions"),
        (["--audit-share", "-1"], "--audit-share"),
        (["--lease", "0"], "--lease"),
        (["--model", "m", "--detector", "trees"], "not both"),
        (["--detector", "stak"], "Did you mean 'stack'"),
        (["--host", "0.0.0.0"], "can be reached from other machines"),
    ],
)
def test_options_are_checked_before_the_table_is_read(orders, monkeypatch, options, message):
    def read(*_):
        raise AssertionError("the table was read")

    monkeypatch.setattr("imboost.tables.files.TableFiles.read", read)
    assert message in refused("label", orders, *options)
    assert not orders.with_name("orders.session.db").exists()


def test_missing_packages_are_named(orders, monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(
        "imboost.errors.find_spec",
        lambda name: None if name == "python_multipart" else find(name),
    )
    line = refused("label", orders)
    assert "imboost label needs python-multipart: pip install 'imboost[label]'" in line


def test_the_page_needs_no_package_of_another_extra():
    code = "import sys; sys.modules['prometheus_client'] = None; import imboost.labelling.app"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.stderr == ""


def test_tables_and_sessions_that_cannot_be_used_are_refused(orders, tmp_path, monkeypatch):
    with pytest.raises(DataError, match="does not exist"):
        find_source(tmp_path / "none.csv", None, "default")
    with pytest.raises(SettingError, match="exists and is not a session"):
        find_source(orders, str(orders), "default")
    with pytest.raises(SettingError, match="is a folder"):
        find_source(orders, str(tmp_path), "default")
    with pytest.raises(SettingError, match="does not exist"):
        find_source(orders, str(tmp_path / "none" / "s.db"), "default")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SettingError, match="cannot be written: store the answers elsewhere"):
        find_source(orders, None, "default")


def test_an_existing_session_may_lie_in_a_folder_of_its_own(orders, tmp_path):
    (tmp_path / "mine").mkdir()
    source = find_source(orders, str(tmp_path / "mine" / "x.db"), "default")
    assert (source.exists, source.table) == (False, orders)
    assert source.shown == str(tmp_path / "mine" / "x.db")


def test_port_0_is_the_usual_one_unless_it_is_taken():
    assert _choose_port("127.0.0.1", 9) == 9
    try:
        with socket.create_server(("127.0.0.1", DEFAULT_PORT)):
            assert _choose_port("127.0.0.1", 0) == 0
    except OSError:
        pytest.skip(f"port {DEFAULT_PORT} is taken by another program")


def test_no_text_browser_takes_over_the_terminal(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    _open_browser("http://127.0.0.1:1")
    assert not opened


def test_the_real_program_serves_the_page_until_ctrl_c(orders):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = "from imboost.cli.main import main; main()"
    options = ["--port", str(port), "--no-browser", "--detector", "trees"]
    with subprocess.Popen(
        [sys.executable, "-c", command, "label", str(orders), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ) as program:
        try:
            page = _wait_for(f"http://127.0.0.1:{port}/columns", program)
            assert "order_id" in page.text
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            wrong = httpx.get(page.url, headers={"Host": "evil.example"})
            assert wrong.status_code == 400
            other_site = {"Origin": "https://evil.example"}
            assert httpx.post(page.url, headers=other_site).status_code == 403
        finally:
            program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    assert f"Open http://127.0.0.1:{port} in a browser. Stop with Ctrl+C." in out
    assert out.splitlines()[-1].startswith("0 answers stored in ")
    assert err == ""
    assert program.returncode == 0


def _wait_for(address, program):
    for _ in range(600):
        assert program.poll() is None, program.stderr.read()
        try:
            return httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the page did not start")
