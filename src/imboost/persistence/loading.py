"""Load a saved detector; no code in its files is imported or run."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from imboost.detectors import BaseDetector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import PersistenceError
from imboost.persistence.class_registry import CLASSES, DETECTORS
from imboost.persistence.codec import Decoder
from imboost.persistence.forests import load_forests
from imboost.persistence.model_folder import ARRAYS, COPY_AGAIN, FORESTS, STRUCTURE, read_files

FORMAT = 1  # increased whenever older model folders can no longer be read

TOLERANCE = 1e-5  # maximum error of a score, relative to the score or to 1, if that is larger
MIN_EQUAL_SCORES = 0.9
"""Fraction of check rows whose scores must agree. Not all: rounding on another processor may
send a single row to the other side of a tree's split."""

READ_ERRORS = (
    ArithmeticError,
    AttributeError,
    BadZipFile,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SafetensorError,
    TypeError,
    ValueError,
    zlib.error,
)
"""Exceptions that reading an invalid file may raise."""

Detector = TableDetector | BaseDetector


def load(folder: Path | str) -> Detector:
    """Load a detector, on the CPU.

    It scores and explains as the saved one does. It lacks the state that training needs, so it
    cannot be refined.

    Parameters
    ----------
    folder : path
        The folder given to `save`.

    Returns
    -------
    TableDetector or BaseDetector
        A detector of the class that was saved.

    Raises
    ------
    PersistenceError
        If the folder is not a saved model, is damaged, has another format, or if the loaded
        detector does not reproduce the saved scores.
    """
    folder = Path(folder)
    contents = read_files(folder)
    structure = _read_structure(folder, contents)
    try:
        arrays = safetensors.numpy.load(contents[ARRAYS])
        forests = load_forests(contents[FORESTS]) if FORESTS in contents else {}
        decoder = Decoder(CLASSES, arrays, forests)
        detector: Detector = decoder.decode(structure["detector"])
        if type(detector) not in DETECTORS.values():
            raise TypeError(f"it holds a {type(detector).__name__}, which is not a detector")
        rows, expected = (decoder.decode(structure["check"][name]) for name in ("rows", "scores"))
        scores = matrix_detector(detector)._score_rows(rows)
        errors = np.abs(scores - expected) / np.maximum(np.abs(expected), 1.0)
    except READ_ERRORS as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        reason = f"it lacks {reason}" if isinstance(error, KeyError) else reason
        raise PersistenceError(
            f"{folder} cannot be read: {reason}. {_remedy(structure)}"
        ) from None
    if not np.mean(errors <= TOLERANCE) >= MIN_EQUAL_SCORES:
        raise PersistenceError(
            f"{folder} does not reproduce the scores it had when it was saved. "
            f"{_remedy(structure)}"
        )
    return detector


def matrix_detector(detector: Detector) -> BaseDetector:
    """Return the detector that scores matrices: the given one, or that of a table detector."""
    return detector.detector_ if isinstance(detector, TableDetector) else detector


def _read_structure(folder: Path, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return the content of the JSON file; raise if it has another format."""
    try:
        structure = json.loads(contents[STRUCTURE])
        found = structure["format"]
    except READ_ERRORS:
        raise PersistenceError(
            f"{folder} is not a saved model: it has no readable {STRUCTURE}."
        ) from None
    if found != FORMAT:
        raise PersistenceError(
            f"{folder} has the format {found!r:.20}, but this version of imboost reads {FORMAT}. "
            f"{_remedy(structure)}"
        )
    if contents.keys() - {FORESTS} != {STRUCTURE, ARRAYS}:
        raise PersistenceError(
            f"{folder} must contain {STRUCTURE}, {ARRAYS}, possibly {FORESTS}, and nothing else. "
            f"{COPY_AGAIN}"
        )
    return dict(structure)


def _remedy(structure: dict[str, Any]) -> str:
    try:
        versions = ", ".join(
            f"{name} {structure['versions'][name]:.20}"
            for name in ("imboost", "scikit-learn", "torch")
        )
    except READ_ERRORS:
        return COPY_AGAIN
    return f"Load it with the versions that saved it ({versions}), or save a new one."
