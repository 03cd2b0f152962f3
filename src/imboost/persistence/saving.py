"""Save a trained detector in a folder and load it again, without pickle."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError
from sklearn.utils.validation import check_is_fitted

from imboost.detectors import BaseDetector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import BundleError, SettingError
from imboost.labels import UNLABELLED
from imboost.persistence.class_registry import CLASSES, DETECTORS
from imboost.persistence.codec import CannotEncodeError, Decoder, Encoder
from imboost.persistence.directories import AGAIN, STRUCTURE, TENSORS, read_files, write_files

FORMAT = 1
"""Raised whenever older bundles can no longer be read."""

NAMED = ("imboost", "scikit-learn", "torch")
PACKAGES = (*NAMED, "numpy", "safetensors")
"""Those whose versions are written down; errors name the first few."""

TOLERANCE = 1e-5
"""How far a score may be from that of the detector that was saved, in its size or in 1."""

MOST = 0.9
"""Rows that must score as they did."""

UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    SafetensorError,
    TypeError,
    ValueError,
)
"""What files raise that are not what they should be."""

Detector = TableDetector | BaseDetector


def save(detector: Detector, folder: Path | str) -> None:
    """Save a trained detector; a bundle that is there already is replaced.

    The bundle is loaded once before it takes its place, so that what is there can be loaded.

    Parameters
    ----------
    detector : TableDetector or BaseDetector
        All but the peers `XGBOD`, `AAD` and `Pine`, which are built on other libraries.
    folder : path
        New, empty or an older bundle.

    Raises
    ------
    SettingError
        If the detector, or a part of it, cannot be saved.
    BundleError
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
    if type(detector) not in DETECTORS:
        known = ", ".join(sorted(cls.__name__ for cls in DETECTORS))
        raise SettingError(f"{type(detector).__name__} cannot be saved; these can: {known}.")
    check_is_fitted(detector)
    trained = _trained(detector)
    rows = trained._fingerprint_rows
    encoder = Encoder(CLASSES)
    try:
        structure = {
            "format": FORMAT,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"python": platform.python_version()}
            | {package: version(package) for package in PACKAGES},
            "training": _facts(detector),
            "detector": encoder.encode(detector, "detector"),
            "check": {
                "rows": encoder.encode(rows, "check.rows"),
                "scores": encoder.encode(trained._score_rows(rows), "check.scores"),
            },
        }
    except CannotEncodeError as error:
        raise SettingError(f"{type(detector).__name__} cannot be saved: {error}.") from None
    contents = {
        STRUCTURE: (json.dumps(structure, indent=1, allow_nan=False) + "\n").encode(),
        TENSORS: safetensors.numpy.save(encoder.arrays),
    }
    write_files(Path(folder), contents, check=load)


def load(folder: Path | str) -> Detector:
    """Load a detector, on the CPU. Nothing that stands in the files is imported or run.

    The detector scores and explains as the one that was saved; it holds no training rows, so
    that it cannot be refined.

    Parameters
    ----------
    folder : path
        Where `save` put it.

    Returns
    -------
    TableDetector or BaseDetector
        Of the class that was saved.

    Raises
    ------
    BundleError
        If the folder is no bundle, damaged, of another format, or does not score as it did.
    """
    folder = Path(folder)
    contents = read_files(folder)
    structure = _read_structure(folder, contents)
    try:
        decoder = Decoder(CLASSES, safetensors.numpy.load(contents[TENSORS]))
        detector = decoder.decode(structure["detector"])
        if type(detector) not in DETECTORS:
            raise TypeError(f"it holds a {type(detector).__name__}, which is no detector")
        rows, expected = (decoder.decode(structure["check"][name]) for name in ("rows", "scores"))
        found = _trained(detector)._score_rows(rows)
        misses = np.abs(found - expected) / np.maximum(np.abs(expected), 1.0)
    except UNREADABLE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        reason = f"it lacks {reason}" if isinstance(error, KeyError) else reason
        raise BundleError(f"{folder} cannot be read: {reason}. {_remedy(structure)}") from None
    # Not all: on another processor the last digits may send a single row another way.
    if not np.mean(misses <= TOLERANCE) >= MOST:
        raise BundleError(
            f"{folder} does not score as it did when it was saved. {_remedy(structure)}"
        )
    loaded: Detector = detector
    return loaded


def _trained(detector: Any) -> BaseDetector:
    """Return what scores matrices: the detector itself, or that of a table detector."""
    return detector.detector_ if isinstance(detector, TableDetector) else detector


def _facts(detector: Detector) -> dict[str, Any]:
    """Return what a reader may want to know of the training; loading does not need it."""
    trained = _trained(detector)
    facts: dict[str, Any] = {
        "detector": type(trained).__name__,
        "rows": len(trained.decision_scores_),
        "labels": int((trained.training_labels_ != UNLABELLED).sum()),
        "matrix_columns": int(trained.n_features_in_),
        "threshold": float(trained.threshold_),
    }
    if isinstance(detector, TableDetector):
        facts["roles"] = {fact.name: str(fact.role) for fact in detector.facts_}
    return facts


def _read_structure(folder: Path, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return what stands in the JSON file; raise if it is of another format."""
    try:
        structure = json.loads(contents[STRUCTURE])
        found = structure["format"]
    except UNREADABLE:
        raise BundleError(f"{folder} is no bundle: it has no readable {STRUCTURE}.") from None
    if found != FORMAT:
        raise BundleError(
            f"{folder} has the bundle format {found!r:.20}, and this imboost reads {FORMAT}. "
            f"{_remedy(structure)}"
        )
    if contents.keys() != {STRUCTURE, TENSORS}:
        raise BundleError(f"{folder} must hold {STRUCTURE} and {TENSORS} alone. {AGAIN}")
    return dict(structure)


def _remedy(structure: dict[str, Any]) -> str:
    try:
        written = ", ".join(f"{name} {structure['versions'][name]:.20}" for name in NAMED)
    except UNREADABLE:
        return AGAIN
    return f"Load it with what wrote it ({written}), or save a newly trained detector."
