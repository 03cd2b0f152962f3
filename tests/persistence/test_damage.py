"""What is damaged, or not what it says, is refused with one clear line."""

import hashlib
import json
import pickle

import numpy as np
import pytest
import safetensors.numpy

from conftest import make_quick
from imboost import persistence
from imboost.errors import BundleError


class Trap:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a file was unpickled",))


@pytest.fixture(scope="module")
def content(planted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles") / "model"
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
    with pytest.raises(BundleError, match=message) as caught:
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
    """Change the structure of a bundle, with checksums that fit."""
    path = folder / "bundle.json"
    structure = json.loads(path.read_text())
    change(structure)
    path.write_text(json.dumps(structure))
    seal(folder)


def rewrite_tensors(folder, change):
    path = folder / "tensors.safetensors"
    tensors = safetensors.numpy.load_file(path)
    change(tensors)
    safetensors.numpy.save_file(tensors, path)
    seal(folder)


def test_an_untouched_bundle_is_loaded(folder):
    persistence.load(folder)


def test_a_folder_that_is_no_bundle_is_refused(tmp_path):
    refused(tmp_path / "nowhere", "is no bundle: it is no folder")
    refused(tmp_path, "is no bundle: it has no checksums.txt")


def test_a_pickle_that_was_slipped_in_is_refused(folder):
    (folder / "model.pkl").write_bytes(pickle.dumps(Trap()))
    refused(folder, "holds 'model.pkl', which is not in checksums.txt. Remove it")
    seal(folder)
    refused(folder, "must hold bundle.json and tensors.safetensors alone")


@pytest.mark.parametrize("name", ["bundle.json", "tensors.safetensors"])
def test_a_pickle_in_the_place_of_a_file_is_refused(folder, name):
    (folder / name).write_bytes(pickle.dumps(Trap()))
    refused(folder, f"{name} in .* is damaged: it does not have the checksum")
    seal(folder)
    refused(folder, "no readable bundle.json|cannot be read")


def test_a_folder_within_is_refused(folder):
    (folder / "more").mkdir()
    refused(folder, "holds 'more'")


@pytest.mark.parametrize("name", ["bundle.json", "tensors.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    refused(folder, f"lacks '{name}'. Copy the bundle again")
    seal(folder)
    refused(folder, "no readable bundle.json|must hold bundle.json and tensors.safetensors alone")


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_a_truncated_tensor_file_is_refused(folder, kept):
    path = folder / "tensors.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    refused(folder, "tensors.safetensors in .* is damaged")
    seal(folder)
    refused(folder, "cannot be read: .* Load it with what wrote it")


@pytest.mark.parametrize("name", ["bundle.json", "tensors.safetensors", "checksums.txt"])
def test_a_changed_byte_anywhere_is_refused(folder, content, name):
    data = content[name]
    for place in np.linspace(0, len(data) - 1, 60).astype(int):
        for mask in (0x01, 0x20, 0x80):
            changed = data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]
            (folder / name).write_bytes(changed)
            refused(folder, "is damaged|lacks|which is not in")


def test_another_format_is_named_with_what_wrote_it(folder):
    def become_newer(structure):
        structure["format"] = 2
        structure["versions"]["imboost"] = "9.8"

    rewrite(folder, become_newer)
    refused(folder, r"has the bundle format 2, .* reads 1\. Load it with .* \(imboost 9\.8, ")
    rewrite(folder, lambda structure: structure.pop("versions"))
    refused(folder, "has the bundle format 2, .* Copy the bundle again")
    rewrite(folder, lambda structure: structure.pop("format"))
    refused(folder, "no readable bundle.json")


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "Popen", "Session"])
def test_a_class_that_is_not_listed_is_never_made(folder, name):
    rewrite(folder, lambda structure: structure["detector"].update({"class": name}))
    refused(folder, f"names the class '{name}', which no bundle holds")


def test_something_else_than_a_detector_is_refused(folder):
    other = {"class": "MinMaxScaling", "fields": {"offset": 0.0, "factor": 1.0}}
    rewrite(folder, lambda structure: structure.update(detector=other))
    refused(folder, "it holds a MinMaxScaling, which is no detector")


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        3,
        {},
        {"module": "os"},
        {"class": "Stack"},
        {"class": "Stack", "fields": {}},
        {"class": ["Stack"], "fields": {}},
        {"class": "Layout", "fields": {"system": "ls"}},
        {"class": "IsolationForest", "fields": {}},
        {"array": "nowhere", "order": "C"},
        {"scalar": ["object", 1]},
        {"float": "ten"},
    ],
)
def test_a_structure_that_makes_no_sense_is_refused(folder, wrong):
    rewrite(folder, lambda structure: structure.update(detector=wrong))
    refused(folder, "cannot be read: ")


def test_a_structure_that_never_ends_is_refused(folder):
    (folder / "bundle.json").write_text("[" * 200_000)
    seal(folder)
    refused(folder, "no readable bundle.json")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("left_child", 0, "leads nowhere"),
        ("right_child", 10**6, "leads nowhere"),
        ("right_child", -7, "leads nowhere"),
        ("feature", 99, "column that does not exist"),
        ("sizes", 10**15, "do not have the nodes"),
        ("value_places", 10**7, "out of bounds"),
    ],
)
def test_trees_that_lead_out_of_themselves_are_refused(folder, field, value, message):
    def lead_astray(tensors):
        [name] = [name for name in tensors if f"_surroundings._forest.{field}" in name]
        tensors[name][0] = value

    rewrite_tensors(folder, lead_astray)
    refused(folder, message)


def test_a_tree_without_nodes_is_refused(folder):
    def starve(tensors):
        [name] = [name for name in tensors if "_surroundings._forest.sizes" in name]
        tensors[name][1] += tensors[name][0]
        tensors[name][0] = 0

    rewrite_tensors(folder, starve)
    refused(folder, "do not have the nodes")


def test_a_detector_that_scores_otherwise_is_refused(folder):
    def change(tensors):
        tensors["check.scores"] += 0.01

    rewrite_tensors(folder, change)
    refused(folder, "does not score as it did when it was saved. Load it with what wrote it")


def test_attributes_that_an_older_version_did_not_have_are_missed(folder):
    rewrite(folder, lambda structure: structure["detector"]["fields"].pop("_surroundings"))
    refused(folder, "cannot be read: .*_surroundings")
