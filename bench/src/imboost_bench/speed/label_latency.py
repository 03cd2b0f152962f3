"""Time from a key to the next row on screen of the labelling page, idle and during training.

    python -m imboost_bench.speed.label_latency --rows 200000

Starts `imboost label` on a numeric table, answers in chromium and measures inside the page: from
the keydown event to the animation frame after the next card is in the document. The bar is a
median of 60 ms and a 95th percentile of 150 ms in both cases. Needs chromium.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
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


def main() -> None:
    """Run the benchmark and print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--answers", type=int, default=100, help="answers per case")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        _write_table(path, arguments.rows)
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
                _measure(page, server.address, arguments.answers)
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


def _write_table(path: Path, n_rows: int) -> None:
    X = planted_outliers(n_rows, N_COLUMNS, seed=0).X
    columns = {f"x{number}": pa.array(X[:, number]) for number in range(N_COLUMNS)}
    pyarrow.parquet.write_table(pa.table(columns), path)


if __name__ == "__main__":
    main()
