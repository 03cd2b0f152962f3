"""ADBench files, read from a local copy in ADBench's own layout.

A copy holds folders such as ``Classical`` and ``CV_by_ViT`` with one ``.npz`` file per set
(``Classical/38_thyroid.npz``), each with the arrays ``X`` and ``y``.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.datasets.dataset import Dataset
from imboost.errors import DataError, UnknownNameError

WHERE_TO_GET = (
    "ADBench's files come with its repository, Minqi824/ADBench on GitHub, in "
    "adbench/datasets; copy that folder and name it with --data"
)
PAPER_FOLDERS = ("Classical", "CV_by_ViT", "NLP_by_RoBERTa")
"""Folders of the data sets in the paper; data sets in others are named with their folder."""

_REAL_KINDS = "biuf"
_UNREADABLE = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class ADBenchFile:
    """A file with a data set, the name of the data set and its row in the paper's tables."""

    path: Path
    name: str
    group: str


def find_datasets(folder: Path | str) -> dict[str, ADBenchFile]:
    """Return the data sets below `folder` by name, in the order of ADBench's numbers."""
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"No folder {root}. {WHERE_TO_GET}.")
    files = sorted((_describe(path) for path in root.rglob("*.npz")), key=_reading_order)
    if not files:
        raise DataError(f"No .npz file below {root}. {WHERE_TO_GET}.")
    by_name: dict[str, ADBenchFile] = {}
    for file in files:
        first = by_name.setdefault(file.name, file)
        if first is not file:
            raise DataError(
                f"Two files hold a data set called {file.name}: {first.path} and {file.path}. "
                "Keep one of them."
            )
    return by_name


def load_dataset(folder: Path | str, name: str) -> Dataset:
    """Read the data set called `name`, such as "thyroid", below `folder`."""
    files = find_datasets(folder)
    if name not in files:
        raise UnknownNameError("data set", name, files)
    return read_dataset(files[name])


def count_rows(file: ADBenchFile) -> int:
    """Return the number of rows; 0 for a file that cannot be read."""
    try:
        return int(_read_array(file, "y").size)
    except DataError:
        return 0


def read_dataset(file: ADBenchFile) -> Dataset:
    """Read one file; nothing in it is executed."""
    X, y = _read_array(file, "X"), _read_array(file, "y").reshape(-1)
    if X.dtype.kind not in _REAL_KINDS or y.dtype.kind not in _REAL_KINDS:
        raise DataError(f"{file.path}: X and y must be numbers, got {X.dtype} and {y.dtype}.")
    if not np.isin(y, (0, 1)).all():
        raise DataError(f"{file.path}: y must hold only 0 (inlier) and 1 (outlier).")
    floats = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    return Dataset(file.name, file.group, floats, y.astype(np.int8))


def _read_array(file: ADBenchFile, key: str) -> NDArray[Any]:
    try:
        if not zipfile.is_zipfile(file.path):  # numpy would treat it as a pickle
            raise ValueError("no zip archive, or one cut short")
        with np.load(file.path, allow_pickle=False) as archive:
            if key in archive:
                array: NDArray[Any] = archive[key]
                return array
            held = ", ".join(archive) or "nothing"
    except _UNREADABLE as error:
        raise DataError(
            f"{file.path}: not a readable .npz file ({error}). Fetch it again. {WHERE_TO_GET}."
        ) from None
    raise DataError(f"{file.path}: an ADBench file holds arrays X and y; this one holds {held}.")


def _describe(path: Path) -> ADBenchFile:
    """Return the name of a file, without its number, and with folders that the paper lacks."""
    name = re.sub(r"^\d+_", "", path.stem)
    is_part = path.parent.name.startswith(("CV_by_", "NLP_by_"))
    group = name.split("_", 1)[0] if is_part else name
    if is_part and path.parent.name not in PAPER_FOLDERS:
        name, group = f"{path.parent.name}/{name}", f"{path.parent.name}/{group}"
    return ADBenchFile(path, name, group)


def _reading_order(file: ADBenchFile) -> tuple[str, int, str]:
    number = re.match(r"\d+", file.path.name)
    folder = file.path.parent.name
    rank = str(PAPER_FOLDERS.index(folder)) if folder in PAPER_FOLDERS else folder
    return rank, int(number.group()) if number else 0, file.name
