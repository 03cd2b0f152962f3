"""Damaged and foreign files are refused with one clear line."""

import hashlib
import json
import os
import pickle

import numpy as np
import pytest
import safetensors.numpy

from conftest import make_quick
from imboost import persistence
from imboost.errors import PersistenceError
from imboost.persistence.saved_model import FORMAT

FILES = ["model.json", "arrays.safetensors"]


class Trap:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a file was unpickled",))


@pytest.fixture(scope="module")
def content(planted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    persistence.save(make_quick("stack", n_trees=3).fit(planted.X, planted.y), folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(content, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return folder


def refused(folder, message):
    with pytest.raises(PersistenceError, match=message) as caught:
        persistence.load(folder)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return str(caught.value)


def seal(folder):
    """Write checksums that fit whatever the folder holds, as someone with bad intent would."""
    files = sorted(path for path in folder.iterdir() if path.name != "checksums.txt")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "checksums.txt").write_text("".join(lines))


def rewrite(folder, change):
    """Change the JSON of a model folder, with checksums that fit."""
    path = folder / "model.json"
    structure = json.loads(path.read_text())
    change(structure)
    path.write_text(json.dumps(structure))
    seal(folder)


def rewrite_arrays(folder, change):
    path = folder / "arrays.safetensors"
    tensors = safetensors.numpy.load_file(path)
    change(tensors)
    safetensors.numpy.save_file(tensors, path)
    seal(folder)


def test_an_untouched_model_is_loaded(folder):
    persistence.load(folder)


def test_a_folder_without_a_model_is_refused(tmp_path):
    refused(tmp_path / "nowhere", "is not a saved model: it is not a folder")
    refused(tmp_path, "is not a saved model: it has no checksums.txt")


def test_a_pickle_that_was_slipped_in_is_refused(folder):
    (folder / "model.pkl").write_bytes(pickle.dumps(Trap()))
    refused(folder, "contains 'model.pkl', which is not in checksums.txt. Remove it")
    seal(folder)
    refused(folder, "must contain model.json, arrays.safetensors and nothing else")


@pytest.mark.parametrize("name", FILES)
def test_a_pickle_in_the_place_of_a_file_is_refused(folder, name):
    (folder / name).write_bytes(pickle.dumps(Trap()))
    refused(folder, f"{name} in .* is damaged: it does not have the checksum")
    seal(folder)
    refused(folder, "no readable model.json|cannot be read")


def test_a_folder_within_is_refused(folder):
    (folder / "more").mkdir()
    refused(folder, "contains 'more', which is not a regular file")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    refused(folder, f"lacks '{name}'. Copy the whole folder again")
    seal(folder)
    refused(folder, "no readable model.json|must contain model.json, arrays|lacks 'detector")


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_a_truncated_file_is_refused(folder, kept):
    path = folder / "arrays.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    refused(folder, "arrays.safetensors in .* is damaged")
    seal(folder)
    refused(folder, "cannot be read: .* Copy the whole folder again")


@pytest.mark.parametrize("name", [*FILES, "checksums.txt"])
def test_a_changed_byte_anywhere_is_refused(folder, content, name):
    data = content[name]
    for position in np.linspace(0, len(data) - 1, 60).astype(int):
        for mask in (0x01, 0x20, 0x80):
            changed = data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :]
            (folder / name).write_bytes(changed)
            refused(folder, "is damaged|lacks|which is not in")


def test_another_format_is_named_with_the_versions_that_wrote_it(folder):
    def become_newer(structure):
        structure["format"] = FORMAT + 1
        structure["versions"]["imboost"] = "9.8"

    rewrite(folder, become_newer)
    message = rf"has the format {FORMAT + 1}, .* reads {FORMAT}\. Load it with .* \(imboost 9\.8, "
    refused(folder, message)
    rewrite(folder, lambda structure: structure.pop("versions"))
    refused(folder, f"has the format {FORMAT + 1}, .* train it again")
    rewrite(folder, lambda structure: structure.pop("format"))
    refused(folder, "no readable model.json")


def test_an_old_format_of_this_version_does_not_name_this_version_as_the_remedy(folder):
    rewrite(folder, lambda structure: structure.update(format=1))
    message = refused(folder, f"has the format 1, .* reads {FORMAT}")
    assert message.endswith("saved before the format changed: train it again with 'imboost fit'.")


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "Popen", "Session"])
def test_a_class_that_is_not_registered_is_never_created(folder, name):
    rewrite(folder, lambda structure: structure["detector"].update({"class": name}))
    refused(folder, f"names the class '{name}', which models do not contain")


def test_an_object_that_is_not_a_detector_is_refused(folder):
    other = {"class": "MinMaxScaling", "state": {"offset": 0.0, "factor": 1.0}}
    rewrite(folder, lambda structure: structure.update(detector=other))
    refused(folder, "it holds a MinMaxScaling, which is not a detector")


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        3,
        {},
        {"module": "os"},
        {"class": "Stack"},
        {"class": "Stack", "state": {}},
        {"class": ["Stack"], "state": {}},
        {"class": "Layout", "state": {"system": "ls"}},
        {"class": "Forest", "state": {}},
        {"array": "nowhere", "order": "C"},
        {"scalar": ["object", 1]},
        {"float": "ten"},
    ],
)
def test_a_structure_that_makes_no_sense_is_refused(folder, wrong):
    rewrite(folder, lambda structure: structure.update(detector=wrong))
    refused(folder, "cannot be read: ")


@pytest.mark.parametrize(
    "wrong",
    [
        {
            "class": "CategoryEncoder",
            "state": {
                "categories": {"tuple": ["a", {"float": "nan"}]},
                "frequency_bins": {"dict": []},
                "n_frequency_bins": 1,
            },
        },
        {
            "class": "ReferenceCategories",
            "state": {"counts": {"dict": [[{"float": "nan"}, 3]]}, "n_rows": 9},
        },
    ],
    ids=lambda wrong: wrong["class"],
)
def test_a_category_that_is_not_a_text_is_refused(folder, wrong):
    rewrite(folder, lambda structure: structure.update(detector=wrong))
    refused(folder, "cannot be read: a category is not a text")


def test_a_structure_that_never_ends_is_refused(folder):
    (folder / "model.json").write_text("[" * 200_000)
    seal(folder)
    refused(folder, "no readable model.json")


def some_forest(tensors):
    """Return the name before those of the arrays of a forest."""
    return next(name for name in tensors if name.endswith(".children")).removesuffix(".children")


@pytest.mark.parametrize(
    ("array", "value", "message"),
    [
        ("children", 10**6, "impossible child"),
        ("features", 99, "column that does not exist"),
        ("n_nodes", 10**6, "other numbers of nodes"),
    ],
)
def test_trees_with_impossible_nodes_are_refused(folder, array, value, message):
    def damage(tensors):
        tensors[f"{some_forest(tensors)}.{array}"].flat[0] = value

    rewrite_arrays(folder, damage)
    refused(folder, message)


def test_trees_that_claim_more_columns_than_rows_have_are_refused(folder):
    """The number of columns in the file fits its trees; the rows of the detector do not."""

    def widen(structure):
        unsupervised = structure["detector"]["state"]["_unsupervised"]["state"]
        unsupervised["isolation"]["state"]["forest"]["state"]["n_features"] = 1_000_000

    rewrite(folder, widen)
    refused(folder, "a tree takes rows of 1000000 columns, got")


@pytest.mark.parametrize("name", ["model.json", "checksums.txt", "more.json"])
def test_only_regular_files_are_read(folder, tmp_path, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    refused(folder, f"contains '{name}', which is not a regular file")
    (folder / name).unlink()
    (tmp_path / "outside").write_text("{}")
    (folder / name).symlink_to(tmp_path / "outside")
    refused(folder, f"contains '{name}', which is not a regular file")


def test_a_detector_that_scores_differently_is_refused(folder):
    def change(tensors):
        tensors["check.0"] += 0.01

    rewrite_arrays(folder, change)
    refused(folder, "does not reproduce the scores it had when it was saved. Copy the whole")


def test_a_detector_whose_saved_scores_are_no_numbers_is_refused(folder):
    def change(tensors):
        tensors["check.0"] += np.nan

    rewrite_arrays(folder, change)
    refused(folder, "does not reproduce the scores")


def test_a_detector_without_rows_to_check_it_is_refused(folder):
    """No row scores differently if there is none."""

    def remove_rows(tensors):
        for name in tensors:
            if name.startswith("check.") or name == "detector._fingerprint_rows":
                tensors[name] = tensors[name][:0]

    rewrite_arrays(folder, remove_rows)
    refused(folder, "cannot be read")


def test_a_state_without_an_attribute_is_refused(folder):
    rewrite(folder, lambda structure: structure["detector"]["state"].pop("_unsupervised"))
    refused(folder, "cannot be read: .*_unsupervised")
