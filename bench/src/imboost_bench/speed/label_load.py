"""People who answer on the labelling page at the same time, and servers that are killed.

``python -m imboost_bench.speed.label_load people --people 20 --seconds 300 --url postgresql://...``
``python -m imboost_bench.speed.label_load kills --kills 50``

Both start the real program on a table of orders and check the stored answers afterwards: every
acknowledged answer is there, none twice. `people` also checks that no question was answered by two
people and prints response times; `kills` kills the server at random moments while answers stream
in, and compares the final scores with those of a session that was not disturbed.
"""

from __future__ import annotations

import random
import re
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import httpx
import numpy as np
import pyarrow.parquet as pq
import typer

from imboost import Session
from imboost.datasets.orders import MixedTable, mixed_table
from imboost.labelling.pages import NAME_COOKIE
from imboost_bench.speed.timing import PROGRAM

ROW = re.compile(r'id="card"[^>]*data-row="(\d+)"')
REQUEST = re.compile(r'name="request" value="([^"]+)"')
START_SECONDS = 120

app = typer.Typer()
Questions = Annotated[int, typer.Option(help="Per round.")]
Url = Annotated[str | None, typer.Option(help="Of the store; an SQLite file by default.")]


class Server:
    """The program on a free port, which can be killed and started again."""

    def __init__(self, table: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.table = table
        self.address = f"http://127.0.0.1:{port}"
        self._command = [*PROGRAM, "label", str(table), "--no-browser", "--port", str(port)]
        self._command += options

    def start(self) -> None:
        """Start the program and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            try:
                httpx.get(f"{self.address}/columns")
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("The program did not start.")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the program, as Ctrl+C does."""
        self._process.send_signal(how)
        self._process.wait(60)


Work = tuple[list[tuple[int, str, str]], list[float], list[str]]
"""Acknowledged answers with row and person, seconds of all answers, and errors."""


def work(name: str, address: str, truth: np.ndarray[Any, Any], think: float, end: float) -> Work:
    """Answer questions as a person, who thinks for a while, until a time."""
    acknowledged, seconds, errors = [], [], []
    rng = random.Random(name)
    with httpx.Client(base_url=address, cookies={NAME_COOKIE: name}, timeout=60) as client:
        page = client.get("/").text
        while time.monotonic() < end:
            row, request = ROW.search(page), REQUEST.search(page)
            if row is None or request is None:  # no question is free
                time.sleep(0.2)
                page = client.get("/").text
                continue
            time.sleep(rng.expovariate(1 / think))
            answer = "outlier" if truth[int(row[1])] else "inlier"
            data = {"row": row[1], "answer": answer, "request": request[1]}
            started = time.perf_counter()
            response = client.post("/answer", data=data, headers={"HX-Request": "true"})
            seconds.append(time.perf_counter() - started)
            if response.status_code == 200:
                acknowledged.append((int(row[1]), name, answer))
                page = response.text
            else:
                errors.append(f"{response.status_code} {response.text[-300:]}")
                page = client.get("/").text
    return acknowledged, seconds, errors


def start_server(made: MixedTable, folder: str, url: str, questions: int) -> Server:
    """Write the table, start the program and wait for the first question."""
    table = Path(folder, "orders.parquet")
    pq.write_table(made.table, table)
    server = Server(table, "--session", url, "--questions", str(questions))
    server.start()
    with httpx.Client(base_url=server.address, timeout=60) as client:
        page = client.get("/columns", follow_redirects=True)
        if page.url.path == "/columns":
            client.post("/columns", data={"action": "start"})
        while not ROW.search(client.get("/").text):
            time.sleep(0.2)
    return server


@app.command("people")
def measure_people(
    rows: int = 5000,
    people: int = 8,
    seconds: float = 300,
    think: Annotated[float, typer.Option(help="Mean seconds per answer.")] = 2.0,
    questions: Questions = 40,
    url: Url = None,
) -> None:
    """Let people answer at the same time, then check the store."""
    made = mixed_table(rows, seed=0)
    with TemporaryDirectory() as folder:
        url = url or f"{folder}/orders.session.db"
        server = start_server(made, folder, url, questions)
        end = time.monotonic() + seconds
        with ThreadPoolExecutor(people) as threads:
            common = server.address, made.y, think, end
            jobs = [threads.submit(work, f"person {n}", *common) for n in range(people)]
        results = [job.result() for job in jobs]
        acknowledged, waits, errors = (list(chain(*own)) for own in zip(*results, strict=True))
        server.stop()
        with Session.open(url, server.table) as session:
            stored = [(entry.row, entry.who, str(entry.answer)) for entry in session.history]
    times = 1000 * np.array(waits)
    print(
        f"{people} people, {seconds} s: {len(acknowledged):,} acknowledged, "
        f"{len(stored):,} stored, {len(set(acknowledged) - set(stored))} lost, "
        f"{len(stored) - len(set(stored))} doubled, "
        f"{len(stored) - len({row for row, *_ in stored})} questions answered twice, "
        f"{len(errors)} refused\nresponse: median {np.median(times):.0f} ms, 95% "
        f"{np.quantile(times, 0.95):.0f} ms, longest {times.max():.0f} ms"
    )
    for error in errors[:3]:
        print(error)


@app.command("kills")
def measure_kills(
    rows: int = 5000,
    kills: int = 50,
    between: Annotated[float, typer.Option(help="Most seconds between kills.")] = 4.0,
    questions: Questions = 40,
    url: Url = None,
) -> None:
    """Kill the server while answers stream in, then check the store and the scores."""
    made = mixed_table(rows, seed=0)
    rng = random.Random(0)
    is_over = threading.Event()
    acknowledged: list[int] = []

    def stream(address: str) -> None:
        """Answer row after row, and send an answer again until it is acknowledged."""
        for row in range(rows):
            answer = "outlier" if made.y[row] else "inlier"
            data = {"row": row, "answer": answer, "request": f"row-{row}"}
            while not is_over.is_set():
                try:
                    response = httpx.post(f"{address}/answer", data=data, timeout=10)
                except httpx.TransportError:
                    time.sleep(0.02)
                    continue
                if response.status_code in (200, 303):
                    acknowledged.append(row)
                    break
                time.sleep(0.02)

    with TemporaryDirectory() as folder:
        url = url or f"{folder}/orders.session.db"
        server = start_server(made, folder, url, questions)
        thread = threading.Thread(target=stream, args=(server.address,))
        thread.start()
        for number in range(kills):
            time.sleep(rng.uniform(0.0, between))
            server.stop(signal.SIGKILL)
            server.start()
            print(f"kill {number + 1}: {len(acknowledged)} acknowledged", flush=True)
        is_over.set()
        thread.join()
        server.stop()
        with Session.open(url, server.table) as session:
            stored = [entry.row for entry in session.history]
            labels = session.labels
            detector = session.detector
            scores = session.refine().detector.decision_scores_
    undisturbed = Session(detector, made.table)
    told = np.flatnonzero(labels >= 0)
    undisturbed.tell(told.tolist(), labels[told].tolist())
    same = np.array_equal(scores, undisturbed.refine().detector.decision_scores_)
    print(
        f"{kills} kills: {len(acknowledged)} acknowledged, {len(stored)} stored, "
        f"{len(set(acknowledged) - set(stored))} lost, {len(stored) - len(set(stored))} doubled; "
        f"final scores {'equal' if same else 'DIFFER from'} those of an undisturbed session"
    )


if __name__ == "__main__":
    app()
