"""Models as the commands take them."""

from __future__ import annotations

from pathlib import Path

from imboost import bundle
from imboost.apps.progress import stage
from imboost.detectors.table import TableDetector
from imboost.errors import BundleError


def load_model(folder: Path) -> TableDetector:
    """Load a detector for tables; raise if the folder holds another one."""
    with stage(f"loading {folder}"):
        detector = bundle.load(folder)
    if not isinstance(detector, TableDetector):
        raise BundleError(
            f"{folder} holds a {type(detector).__name__}, which looks at matrices: commands need "
            "a TableDetector, such as 'imboost fit' makes."
        )
    return detector
