"""Save a trained detector in a folder, and load it; no code in its files is imported or run."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import safetensors.numpy
from sklearn.utils.validation import check_is_fitted

from imboost.arrays import Floats, Mask
from imboost.detectors import BaseDetector, Detector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import PersistenceError, SettingError, first_line
from imboost.labels import UNLABELLED
from imboost.persistence.atomic_write import atomic_write
from imboost.persistence.class_registry import CLASSES
from imboost.persistence.codec import CannotEncodeError, Decoder, Encoder
from imboost.persistence.model_folder import (
    ARRAYS,
    COPY_AGAIN,
    STRUCTURE,
    check_replaceable,
    read_files,
    write_files,
)
from imboost.stats.score_errors import TOLERANCE, relative_errors

FORMAT = 7  # increased whenever older model folders can no longer be read

MIN_EQUAL_SCORES = 0.9
"""Fraction of check rows whose scores, probabilities and decisions must agree. Not all: rounding
on another processor may send a single row to the other side of a tree's split."""

VERSIONS = ("imboost", "scikit-learn", "torch")  # packages on which a loaded model depends
FIT_AGAIN = "It was saved before the format changed: train it again with 'imboost fit'."


def save(detector: Detector, folder: Path | str) -> None:
    """Save a trained detector; a model that is already in the folder is replaced.

    As a check, the new model is loaded once before it replaces the old one.

    Parameters
    ----------
    detector : TableDetector or BaseDetector
        A detector of this package; not one of PyOD or scikit-learn that was adapted.
    folder : path
        A folder that is new, empty or a saved model.

    Raises
    ------
    SettingError
        If the detector, or a part of it, cannot be saved.
    PersistenceError
        If the folder holds something else.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from imboost import Stack, persistence
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = Stack(random_state=0).fit(rows)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     persistence.save(detector, f"{folder}/model")
    ...     loaded = persistence.load(f"{folder}/model")
    >>> bool((loaded.decision_function(rows) == detector.decision_function(rows)).all())
    True
    """
    folder = Path(folder)
    check_is_fitted(detector)
    trained = _matrix_detector(detector)
    check_savable(trained)
    check_replaceable(folder)
    facts: dict[str, Any] = {  # for people who open the file
        "detector": trained.model_name,
        "rows": len(trained.decision_scores_),
        "labels": int((trained.decision_.labels != UNLABELLED).sum()),
        "matrix_columns": int(trained.n_features_in_),
        "threshold": float(trained.threshold_),
    }
    if isinstance(detector, TableDetector):
        facts["roles"] = {column.name: str(column.role) for column in detector.schema_}
    versions = {name: version(name) for name in (*VERSIONS, "numpy", "safetensors")}
    encoder = Encoder(CLASSES)
    try:
        structure = {
            "format": FORMAT,
            "saved_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"python": platform.python_version(), **versions},
            "training": facts,
            "detector": encoder.encode(detector, "detector"),
            "check": encoder.encode(_check_predictions(detector), "check"),
        }
    except CannotEncodeError as error:
        raise SettingError(f"{type(detector).__name__} cannot be saved: {error}.") from None
    contents = {
        STRUCTURE: (json.dumps(structure, indent=1, allow_nan=False) + "\n").encode(),
        ARRAYS: safetensors.numpy.save(encoder.arrays),
    }
    with atomic_write(folder) as draft:
        write_files(draft, contents)
        load(draft)


def check_savable(detector: BaseDetector) -> None:
    """Raise if a detector, fitted or not, is of a class that cannot be saved."""
    if type(detector).__name__ not in CLASSES:
        raise SettingError(
            f"{detector.model_name} cannot be saved: its model is of another library; save it as "
            "that library advises."
        )


def load(folder: Path | str) -> TableDetector | BaseDetector:
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
        decoder = Decoder(CLASSES, safetensors.numpy.load(contents[ARRAYS]))
        detector: TableDetector | BaseDetector = decoder.decode(structure["detector"])
        if not isinstance(detector, Detector):
            raise TypeError(f"it holds a {type(detector).__name__}, which is not a detector")
        expected = decoder.decode(structure["check"])
        with np.errstate(all="ignore"):  # wrong numbers are noticed below
            found = _check_predictions(detector)
        is_equal = {name: _are_equal(found[name], expected[name]) for name in found}
    except Exception as error:  # an invalid file may raise anything
        reason = f"it lacks {error}" if isinstance(error, KeyError) else first_line(error)
        raise PersistenceError(
            f"{folder} cannot be read: {reason}. {_remedy(structure)}"
        ) from None
    for name, equal in is_equal.items():
        if np.mean(equal) < MIN_EQUAL_SCORES:
            raise PersistenceError(
                f"{folder} does not reproduce the {name} it had when it was saved. "
                f"{_remedy(structure)}"
            )
    return detector


def _matrix_detector(detector: Detector) -> Any:
    return detector.detector_ if isinstance(detector, TableDetector) else detector


def _check_predictions(detector: Detector) -> dict[str, Floats]:
    """Return what a detector predicts for a few training rows, from the table to the decision."""
    scoring = _matrix_detector(detector)
    matrix = scoring._fingerprint_rows
    if isinstance(detector, TableDetector):
        cells = {
            name: pa.array(column, pa.string()) for name, column in detector._check_cells.items()
        }
        matrix = detector.encode(pa.table(cells))
    scores = scoring._score_rows(matrix)
    return {
        "scores": scores,
        "probabilities": scoring.decision_.probability(scores),
        "decisions": (scores > scoring.threshold_).astype(np.float64),
    }


def _are_equal(found: Floats, expected: Floats) -> Mask:
    if found.shape != expected.shape or not len(found):
        raise ValueError("it has no results of the rows to check it with")
    return relative_errors(found, expected) <= TOLERANCE


def _read_structure(folder: Path, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return the content of the JSON file; raise if it has another format."""
    try:
        structure = json.loads(contents[STRUCTURE])
        found = structure["format"]
    except Exception:
        raise PersistenceError(
            f"{folder} is not a saved model: it has no readable {STRUCTURE}."
        ) from None
    if found != FORMAT:
        raise PersistenceError(
            f"{folder} has the format {found!r:.20}, but this version of imboost "
            f"({version('imboost')}) reads {FORMAT}. {_remedy(structure, FIT_AGAIN)}"
        )
    if contents.keys() != {STRUCTURE, ARRAYS}:
        raise PersistenceError(
            f"{folder} must contain {STRUCTURE}, {ARRAYS} and nothing else. {COPY_AGAIN}"
        )
    return dict(structure)


def _remedy(structure: dict[str, Any], advice: str = COPY_AGAIN) -> str:
    """Name the versions that saved a model, if they are not the installed ones."""
    try:
        saved = {name: f"{structure['versions'][name]:.20}" for name in VERSIONS}
    except Exception:
        return advice
    if all(saved[name] == version(name) for name in VERSIONS):
        return advice
    named = ", ".join(f"{name} {number}" for name, number in saved.items())
    return f"Load it with the versions that saved it ({named}), or save a new one."
