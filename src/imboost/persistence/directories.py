"""The folder of a bundle: its files, and the sums that show whether a byte has changed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from imboost.errors import BundleError

STRUCTURE, TENSORS, CHECKSUMS = "bundle.json", "tensors.safetensors", "checksums.txt"
AGAIN = "Copy the bundle again, whole, or save it again."

_LINE = r"([0-9a-f]{64})  ([\w.-]+)\n"


def write_files(
    folder: Path, contents: Mapping[str, bytes], check: Callable[[Path], object]
) -> None:
    """Write files and their checksums; a bundle of the same name is replaced.

    They are written beside the folder first, and take its place once `check` has not raised.

    Raises
    ------
    BundleError
        If the folder holds anything but a bundle.
    """
    folder = folder.resolve()
    _check_replaceable(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    mark = uuid4().hex
    draft, old = (folder.with_name(f".{folder.name}.{what}-{mark}") for what in ("new", "old"))
    draft.mkdir()
    try:
        for name, content in contents.items():
            (draft / name).write_bytes(content)
        (draft / CHECKSUMS).write_bytes(_checksums(contents).encode())
        check(draft)
        if folder.exists():
            folder.rename(old)
        draft.rename(folder)
    finally:
        for left in (draft, old):
            shutil.rmtree(left, ignore_errors=True)


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a bundle, by name.

    Raises
    ------
    BundleError
        If a file is missing, changed, or not in the list of checksums.
    """
    if not (folder / CHECKSUMS).is_file():
        what = f"has no {CHECKSUMS}" if folder.is_dir() else "is no folder"
        raise BundleError(f"{folder} is no bundle: it {what}.")
    text = (folder / CHECKSUMS).read_bytes().decode("ascii", errors="replace")
    if not re.fullmatch(f"({_LINE})+", text):
        raise BundleError(f"{CHECKSUMS} in {folder} is damaged. {AGAIN}")
    sums = {name: found for found, name in re.findall(_LINE, text)}
    present = {path.name for path in folder.iterdir()} - {CHECKSUMS}
    for name in sorted(present - sums.keys()):
        raise BundleError(
            f"{folder} holds '{name}', which is not in {CHECKSUMS}. Remove it, or do not trust "
            "the folder."
        )
    for name in sorted(sums.keys() - present):
        raise BundleError(f"{folder} lacks '{name}'. {AGAIN}")
    contents = {name: (folder / name).read_bytes() for name in sums}
    for name, content in contents.items():
        if sha256(content).hexdigest() != sums[name]:
            raise BundleError(
                f"{name} in {folder} is damaged: it does not have the checksum in {CHECKSUMS}. "
                f"{AGAIN}"
            )
    return contents


def _checksums(contents: Mapping[str, bytes]) -> str:
    """Return what `sha256sum --check` reads."""
    return "".join(
        f"{sha256(content).hexdigest()}  {name}\n" for name, content in contents.items()
    )


def _check_replaceable(folder: Path) -> None:
    if not folder.exists():
        return
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {""}
    if names and names != {STRUCTURE, TENSORS, CHECKSUMS}:
        raise BundleError(
            f"{folder} exists and is no bundle. Choose a folder that is new, empty or a bundle."
        )
