"""Time from a key to the next row on screen of the labelling page, idle and during training.

    python -m imboost_bench.speed.label_latency --rows 200000

Starts `imboost label` on a numeric table, answers in chromium and measures inside the page: from
the keydown event to the animation frame after the next card is in the document. The bar is a
median of 60 ms and a 95th percentile of 150 ms in both cases. Needs chromium.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from playwright.sync_api import Page, sync_playwright

from imboost.datasets import planted_outliers
from imboost_bench.speed.label_load import Server

N_COLUMNS = 30
START_SECONDS = 1200  # the first training on a busy machine
PAUSE_SECONDS = 0.15  # between the next row and the next key
MEASURE = """() => {
    const row = () => document.getElementById("card").dataset.row;
    let shown = row(), start = null;
    window.latencies = [];
    document.addEventListener("keydown", () => { start = performance.now(); }, true);
    new MutationObserver(() => {
        if (start === null || !row() || row() === shown) return;
        const begin = start;
        [shown, start] = [row(), null];
        requestAnimationFrame(() => {
            const isTraining = document.querySelector("#panel .training") !== null;
            latencies.push([performance.now() - begin, isTraining]);
        });
    }).observe(document.body, {childList: true, subtree: true});
}"""


def main(
    rows: int = 200_000, answers: Annotated[int, typer.Option(help="Per case.")] = 100
) -> None:
    """Run the benchmark and print one line per case."""
    X = planted_outliers(rows, N_COLUMNS, seed=0).X
    table = pa.table({f"x{number}": column for number, column in enumerate(X.T)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        pq.write_table(table, path)
        server = Server(path)
        try:
            server.start()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"),
                    args=["--no-sandbox", "--disable-gpu"],
                )
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.set_default_timeout(1000 * START_SECONDS)
                _measure(page, server.address, answers)
                browser.close()
        finally:
            server.stop()


def _measure(page: Page, address: str, n_answers: int) -> None:
    page.goto(address)
    start = time.monotonic()
    page.get_by_role("button", name="Start").click()
    page.locator("#card[data-row]:not([data-row=''])").wait_for()
    print(f"first training: {time.monotonic() - start:.0f} s", flush=True)
    page.evaluate(MEASURE)
    # Unsure answers never start a training, decided ones do.
    for name, is_training, keys in (("idle", False, "u"), ("training", True, "oi")):
        latencies: list[float] = []
        while len(latencies) < n_answers:
            latencies += [
                seconds
                for seconds, was in _press(page, keys[len(latencies) % len(keys)])
                if was == is_training
            ]
        median, high = np.quantile(latencies, (0.5, 0.95))
        print(
            f"{name}: median {median:.0f} ms, 95th percentile {high:.0f} ms, "
            f"maximum {max(latencies):.0f} ms, {len(latencies)} answers",
            flush=True,
        )


def _press(page: Page, key: str) -> list[tuple[float, bool]]:
    """Press a key; return the milliseconds to the next row, and whether a training ran."""
    page.keyboard.press(key)
    while not (measured := page.evaluate("latencies.splice(0)")):
        time.sleep(0.02)
    time.sleep(PAUSE_SECONDS)
    return [(float(one), bool(was)) for one, was in measured]


if __name__ == "__main__":
    typer.run(main)
