"""Models as the commands take them."""

from __future__ import annotations

from pathlib import Path

from imboost import persistence
from imboost.cli.progress import stage
from imboost.detectors.table_detector import TableDetector
from imboost.errors import BundleError, SettingError
from imboost.persistence.directories import CHECKSUMS


def load_model(folder: Path) -> TableDetector:
    """Load a detector for tables; raise if the folder holds another one."""
    if not folder.exists():
        raise BundleError(f"The model {folder} does not exist: 'imboost fit' writes models.")
    with stage(f"loading {folder}"):
        detector = persistence.load(folder)
    if not isinstance(detector, TableDetector):
        raise BundleError(
            f"{folder} holds a {type(detector).__name__}, which looks at matrices: commands need "
            "a TableDetector, such as 'imboost fit' makes."
        )
    return detector


def is_model(folder: Path) -> bool:
    """Whether a folder looks like a model."""
    return (folder / CHECKSUMS).is_file()


def check_order(model: Path, data: Path) -> None:
    """Raise if a model and a table were given in the wrong order."""
    if is_model(data) and not is_model(model):
        raise SettingError(f"The model comes first, then the table: give {data} {model}.")
