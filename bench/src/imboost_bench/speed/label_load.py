"""People who answer on the labelling page at the same time, and servers that are killed.

``python -m imboost_bench.speed.label_load people --people 20 --seconds 300 --url postgresql://...``
``python -m imboost_bench.speed.label_load kills --kills 50``

Both start the real program on a table of orders and check the stored answers afterwards: every
acknowledged answer is there, none twice. `people` also checks that no question was answered by two
people and prints response times; `kills` kills the server at random moments while answers stream
in, and compares the final scores with those of a session that was not disturbed.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow.parquet

from imboost import Session
from imboost.datasets.orders import MixedTable, mixed_table
from imboost.labelling.pages import NAME_COOKIE

ROW = re.compile(r'id="card"[^>]*data-row="(\d+)"')
REQUEST = re.compile(r'name="request" value="([^"]+)"')
START_SECONDS = 120


@dataclass
class Server:
    """The program, which can be killed and started again."""

    table: Path
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        """Choose a free port, which stays the same."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the program and wait until it answers."""
        command = [sys.executable, "-m", "imboost", "label", str(self.table), "--no-browser"]
        command += ["--port", str(self.port), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            try:
                httpx.get(f"{self.address}/columns")
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("The program did not start.")

    def kill(self) -> None:
        """Kill the program with SIGKILL."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """End the program as Ctrl+C does."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)


@dataclass
class Person:
    """A simulated person, and what was acknowledged."""

    name: str
    address: str
    truth: np.ndarray[Any, Any]
    think_seconds: float
    acknowledged: list[tuple[int, str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def work(self, end: float) -> None:
        """Answer questions until a time."""
        cookies = {NAME_COOKIE: self.name}
        rng = random.Random(self.name)
        with httpx.Client(base_url=self.address, cookies=cookies, timeout=60) as client:
            page = client.get("/").text
            while time.monotonic() < end:
                row, request = ROW.search(page), REQUEST.search(page)
                if row is None or request is None:  # no question is free
                    time.sleep(0.2)
                    page = client.get("/").text
                    continue
                time.sleep(rng.expovariate(1 / self.think_seconds))
                answer = "outlier" if self.truth[int(row[1])] else "inlier"
                started = time.perf_counter()
                response = client.post(
                    "/answer",
                    data={"row": row[1], "answer": answer, "request": request[1]},
                    headers={"HX-Request": "true"},
                )
                self.seconds.append(time.perf_counter() - started)
                if response.status_code == 200:
                    self.acknowledged.append((int(row[1]), answer))
                    page = response.text
                else:
                    self.errors.append(f"{response.status_code} {response.text[-300:]}")
                    page = client.get("/").text


def start_server(made: MixedTable, options: argparse.Namespace, folder: Path) -> Server:
    """Write the table, start the program and wait for the first question."""
    table = folder / "orders.parquet"
    pyarrow.parquet.write_table(made.table, table)
    options.url = options.url or str(folder / "orders.session.db")
    server = Server(table, ("--session", options.url, "--questions", str(options.questions)))
    server.start()
    with httpx.Client(base_url=server.address, timeout=60) as client:
        page = client.get("/columns", follow_redirects=True)
        if page.url.path == "/columns":
            client.post("/columns", data={"action": "start"})
        while not ROW.search(client.get("/").text):
            time.sleep(0.2)
    return server


def measure_people(options: argparse.Namespace, folder: Path) -> None:
    """Let people answer at the same time, then check the store."""
    made = mixed_table(options.rows, seed=0)
    server = start_server(made, options, folder)
    end = time.monotonic() + options.seconds
    people = [
        Person(f"person {number}", server.address, made.y, options.think)
        for number in range(options.people)
    ]
    threads = [threading.Thread(target=person.work, args=(end,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.stop()
    with Session.open(options.url, server.table) as session:
        stored = [(entry.row, entry.who, str(entry.answer)) for entry in session.history]
    acknowledged = [(row, one.name, answer) for one in people for row, answer in one.acknowledged]
    rows = [row for row, _, _ in stored]
    times = np.array([second for one in people for second in one.seconds])
    errors = [error for one in people for error in one.errors]
    print(
        f"{options.people} people, {options.seconds} s: {len(acknowledged):,} acknowledged, "
        f"{len(stored):,} stored, {len(set(acknowledged) - set(stored))} lost, "
        f"{len(stored) - len(set(stored))} doubled, "
        f"{len(rows) - len(set(rows))} questions answered twice, {len(errors)} refused\n"
        f"response: median {1000 * np.median(times):.0f} ms, 95% "
        f"{1000 * np.quantile(times, 0.95):.0f} ms, longest {1000 * times.max():.0f} ms"
    )
    for error in errors[:3]:
        print(error)


def measure_kills(options: argparse.Namespace, folder: Path) -> None:
    """Kill the server while answers stream in, then check the store and the scores."""
    made = mixed_table(options.rows, seed=0)
    server = start_server(made, options, folder)
    rng = random.Random(0)
    is_over = threading.Event()
    acknowledged: list[int] = []

    def stream() -> None:
        """Answer row after row, and send an answer again until it is acknowledged."""
        for row in range(options.rows):
            answer = "outlier" if made.y[row] else "inlier"
            data = {"row": row, "answer": answer, "request": f"row-{row}"}
            while not is_over.is_set():
                try:
                    response = httpx.post(f"{server.address}/answer", data=data, timeout=10)
                except httpx.TransportError:
                    time.sleep(0.02)
                    continue
                if response.status_code in (200, 303):
                    acknowledged.append(row)
                    break
                time.sleep(0.02)

    thread = threading.Thread(target=stream)
    thread.start()
    for number in range(options.kills):
        time.sleep(rng.uniform(0.0, options.between))
        server.kill()
        server.start()
        print(f"kill {number + 1}: {len(acknowledged)} acknowledged", flush=True)
    is_over.set()
    thread.join()
    server.stop()
    with Session.open(options.url, server.table) as session:
        rows = [entry.row for entry in session.history]
        labels = session.labels
        detector = session.detector
        scores = session.refine().detector.decision_scores_
    undisturbed = Session(detector, made.table)
    told = np.flatnonzero(labels >= 0)
    undisturbed.tell(told.tolist(), labels[told].tolist())
    same = np.array_equal(scores, undisturbed.refine().detector.decision_scores_)
    print(
        f"{options.kills} kills: {len(acknowledged)} acknowledged, {len(rows)} stored, "
        f"{len(set(acknowledged) - set(rows))} lost, {len(rows) - len(set(rows))} doubled; "
        f"final scores {'equal' if same else 'DIFFER from'} those of an undisturbed session"
    )


def main() -> None:
    """Run one of the two measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["people", "kills"])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--think", type=float, default=2.0, help="mean seconds per answer")
    parser.add_argument("--questions", type=int, default=40, help="per round")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--between", type=float, default=4.0, help="most seconds between kills")
    parser.add_argument("--url", help="of the store; an SQLite file by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        {"people": measure_people, "kills": measure_kills}[options.what](options, Path(folder))


if __name__ == "__main__":
    main()
