"""Save a trained detector in a folder, without pickle."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import safetensors.numpy
from sklearn.utils.validation import check_is_fitted

from imboost.detectors import BaseDetector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError
from imboost.labels import UNLABELLED
from imboost.persistence.atomic_write import atomic_write
from imboost.persistence.class_registry import CLASSES
from imboost.persistence.codec import CannotEncodeError, Encoder
from imboost.persistence.loading import (
    FORMAT,
    Detector,
    check_predictions,
    load,
    matrix_detector,
)
from imboost.persistence.model_folder import (
    ARRAYS,
    STRUCTURE,
    check_replaceable,
    write_files,
)

PACKAGES = ("imboost", "scikit-learn", "torch", "numpy", "safetensors")
"""Packages whose versions are saved."""


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
    check_savable(matrix_detector(detector))
    check_replaceable(folder)
    encoder = Encoder(CLASSES)
    try:
        structure = {
            "format": FORMAT,
            "saved_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"python": platform.python_version()}
            | {package: version(package) for package in PACKAGES},
            "training": _describe_training(detector),
            "detector": encoder.encode(detector, "detector"),
            "check": encoder.encode(check_predictions(detector), "check"),
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


def _describe_training(detector: Detector) -> dict[str, Any]:
    """Return facts for people who open the file; loading does not need them."""
    trained = matrix_detector(detector)
    facts: dict[str, Any] = {
        "detector": trained.model_name,
        "rows": len(trained.decision_scores_),
        "labels": int((trained.decision_.labels != UNLABELLED).sum()),
        "matrix_columns": int(trained.n_features_in_),
        "threshold": float(trained.threshold_),
    }
    if isinstance(detector, TableDetector):
        facts["roles"] = {column.name: str(column.role) for column in detector.schema_}
    return facts
