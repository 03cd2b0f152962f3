"""A write is complete or leaves everything as it was."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from imboost.persistence.atomic_write import atomic_write

WRITE_SLOWLY = """
import sys
from pathlib import Path
from imboost.persistence.atomic_write import atomic_write
with atomic_write(Path(sys.argv[1])) as draft:
    draft.write_text("from another process")
    print("writing", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def folder(tmp_path):
    """A folder `model` with one file, which holds "old"."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "part").write_text("old")
    return tmp_path / "model"


@pytest.fixture
def slow_writer():
    """Start a process that writes a draft of a path, and waits for a line before it ends."""
    processes = []

    def start(path):
        command = [sys.executable, "-c", WRITE_SLOWLY, path]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = subprocess.Popen(command, **pipes)
        processes.append(process)
        assert process.stdout.readline() == b"writing\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def write_folder(path, content="new"):
    with atomic_write(path) as draft:
        draft.mkdir()
        (draft / "part").write_text(content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_and_folders_are_replaced(folder, tmp_path):
    for content in ("first", "second"):
        with atomic_write(tmp_path / "new" / "file") as draft:
            draft.write_text(content)
        write_folder(folder, content)
        assert (tmp_path / "new" / "file").read_text() == content
        assert (folder / "part").read_text() == content
    assert names(tmp_path) == ["model", "new"]
    assert names(tmp_path / "new") == ["file"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_interrupted_write_changes_nothing(folder, tmp_path, error):
    with pytest.raises(error), atomic_write(folder):
        raise error
    assert (folder / "part").read_text() == "old"
    assert names(tmp_path) == ["model"]


def test_a_folder_survives_a_failing_rename(folder, tmp_path, monkeypatch):
    rename = os.rename

    def fail_once(source, target):
        if Path(target) == folder:
            monkeypatch.setattr(os, "rename", rename)
            raise OSError("disk failure")
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail_once)
    with pytest.raises(OSError, match="disk failure"):
        write_folder(folder)
    assert (folder / "part").read_text() == "old"
    assert names(tmp_path) == ["model"]


def test_a_file_never_replaces_a_folder(folder, tmp_path):
    with pytest.raises(IsADirectoryError), atomic_write(folder) as draft:
        draft.write_text("a file")
    assert (folder / "part").read_text() == "old"
    assert names(tmp_path) == ["model"]


def test_everything_is_on_disk_before_it_gets_its_name(folder, tmp_path, monkeypatch):
    events = []
    fsync, rename = os.fsync, os.rename

    def record_sync(descriptor):
        events.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def record_rename(source, target):
        rename(source, target)
        if Path(target) == folder:
            events.append("named")

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "rename", record_rename)
    write_folder(folder)
    synced_before = events[: events.index("named")]
    assert {(folder / "part").stat().st_ino, folder.stat().st_ino} <= set(synced_before)
    assert tmp_path.stat().st_ino in events[events.index("named") :]


def test_drafts_of_killed_processes_are_removed(folder, tmp_path, slow_writer):
    process = slow_writer(folder)
    process.kill()
    process.wait()
    assert len(names(tmp_path)) == 2
    write_folder(folder)
    assert names(tmp_path) == ["model"]


def test_a_folder_is_restored_if_its_writer_was_killed_between_the_renames(
    folder, tmp_path, slow_writer
):
    process = slow_writer(folder)
    process.kill()
    process.wait()
    [draft] = [path for path in tmp_path.iterdir() if path != folder]
    folder.rename(draft / "replaced")
    with pytest.raises(ValueError, match="stop"), atomic_write(folder):
        raise ValueError("stop")
    assert (folder / "part").read_text() == "old"


def test_the_draft_of_a_running_process_is_kept(tmp_path, slow_writer):
    process = slow_writer(tmp_path / "file")
    with atomic_write(tmp_path / "file") as draft:
        draft.write_text("from this process")
    assert len(names(tmp_path)) == 2
    process.communicate(b"\n")
    assert process.returncode == 0
    assert (tmp_path / "file").read_text() == "from another process"
    assert names(tmp_path) == ["file"]


def test_a_terminated_process_removes_its_draft(tmp_path, slow_writer):
    process = slow_writer(tmp_path / "file")
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    assert names(tmp_path) == []
