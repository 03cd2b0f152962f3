"""Small folders in ADBench's layout, for tests of what reads them."""

import os
from pathlib import Path

import numpy as np

from imboost.datasets import planted_outliers


def write_set(folder, file_name, **arrays):
    """Write arrays as ``folder/file_name`` and return the path."""
    path = folder / file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


def write_planted(folder, *names, n_rows=80):
    """Write one small table per name, the first the largest, and return the folder."""
    for number, name in enumerate(names):
        data = planted_outliers(n_rows - number, 3, 0.1, seed=number)
        write_set(folder, f"Classical/{number + 1}_{name}.npz", X=data.X, y=data.y)
    return folder


class DeadlyPath(type(Path())):
    """The path of a data set that ends the process which opens it."""

    def __fspath__(self):
        os._exit(1)
