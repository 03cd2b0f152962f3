"""The files of a model folder and their checksums."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from imboost.errors import PersistenceError

STRUCTURE = "model.json"
ARRAYS = "arrays.safetensors"
CHECKSUMS = "checksums.txt"

COPY_AGAIN = "Copy the whole folder again, or save the detector again."

_LINE = r"([0-9a-f]{64})  ([\w.-]+)\n"


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Create a folder with the given files and `checksums.txt`, as `sha256sum` writes it."""
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    lines = [f"{sha256(content).hexdigest()}  {name}\n" for name, content in contents.items()]
    (folder / CHECKSUMS).write_bytes("".join(lines).encode())


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a model folder, by name.

    A file that is missing, changed, or not in the list of checksums is a PersistenceError.
    """
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_symlink() or not path.is_file():  # a pipe would wait, a link lead elsewhere
            raise PersistenceError(
                f"{folder} contains '{path.name}', which is not a regular file. Remove it, or do "
                "not trust the folder."
            )
    if not (folder / CHECKSUMS).is_file():
        what = f"it has no {CHECKSUMS}" if folder.is_dir() else "it is not a folder"
        raise PersistenceError(
            f"{folder} is not a saved model: {what}. Save one with 'imboost fit'."
        )
    text = (folder / CHECKSUMS).read_bytes().decode("ascii", errors="replace")
    if not re.fullmatch(f"({_LINE})+", text):
        raise PersistenceError(f"{CHECKSUMS} in {folder} is damaged. {COPY_AGAIN}")
    checksums = {name: checksum for checksum, name in re.findall(_LINE, text)}
    present = {path.name for path in folder.iterdir()} - {CHECKSUMS}
    if others := sorted(present - checksums.keys()):
        raise PersistenceError(
            f"{folder} contains '{others[0]}', which is not in {CHECKSUMS}. Remove it, or do not "
            "trust the folder."
        )
    if absent := sorted(checksums.keys() - present):
        raise PersistenceError(f"{folder} lacks '{absent[0]}'. {COPY_AGAIN}")
    contents = {name: (folder / name).read_bytes() for name in checksums}
    for name, content in contents.items():
        if sha256(content).hexdigest() != checksums[name]:
            raise PersistenceError(
                f"{name} in {folder} is damaged: it does not have the checksum in {CHECKSUMS}. "
                f"{COPY_AGAIN}"
            )
    return contents


def check_replaceable(folder: Path) -> None:
    """Raise if a path exists and is neither an empty folder nor a saved model."""
    if not folder.exists():
        return
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {""}
    if names and names != {STRUCTURE, ARRAYS, CHECKSUMS}:
        raise PersistenceError(
            f"{folder} exists and is not a saved model. Choose a folder that is new, empty or a "
            "saved model."
        )
