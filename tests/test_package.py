import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import torch

import imboost
from conftest import make_quick
from imboost.datasets.orders import mixed_table
from imboost.detectors import DETECTORS
from imboost.detectors.base import resolve_device
from imboost.errors import MissingPackageError, SettingError, UnknownNameError, require
from imboost.labels import check_labels, unlabelled
from imboost.validation import check_number

DEVICES = ["cpu", "auto", *(["cuda"] if torch.cuda.is_available() else [])]


def modules_after(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_importing_the_package_is_light():
    assert not modules_after("import imboost") & {"torch", "sklearn", "numpy"}


def test_detectors_need_numpy_and_scikit_learn_alone():
    missing = ["pyarrow", "typer", "zuko", "pandas", "safetensors", "rapidfuzz"]
    statement = f"sys.modules.update(dict.fromkeys({missing})); import imboost.detectors"
    assert "torch" not in modules_after(statement)


def test_benchmark_runs_need_torch_numpy_and_scikit_learn_alone():
    missing = ["pyarrow", "typer", "zuko", "pandas", "safetensors", "matplotlib"]
    statement = f"sys.modules.update(dict.fromkeys({missing})); import imboost_bench.run.runner"
    assert "sklearn" in modules_after(statement)


def test_a_table_with_categories_is_fitted_and_scored_without_torch(tmp_path):
    pa.csv.write_csv(mixed_table(200).table, tmp_path / "orders.csv")
    model, scores = tmp_path / "orders.model", tmp_path / "scores.csv"
    arguments = [
        ["fit", f"{tmp_path}/orders.csv", "--out", f"{model}"],
        ["score", f"{model}", f"{tmp_path}/orders.csv", "--out", f"{scores}"],
    ]
    statement = (
        "from imboost.cli.main import app; "
        f"[app(one, standalone_mode=False) for one in {arguments}]"
    )
    assert "torch" not in modules_after(statement)
    assert scores.exists()


def test_sessions_need_no_database_and_no_table_packages():
    missing = ["sqlalchemy", "alembic", "psycopg", "pyarrow", "pandas"]
    statement = f"sys.modules.update(dict.fromkeys({missing})); import imboost.session"
    assert "sklearn" in modules_after(statement)


def test_the_command_line_runs_as_a_module():
    command = [sys.executable, "-m", "imboost", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == version("imboost")


def test_refused_column_names_end_the_program_in_one_line(tmp_path):
    table = tmp_path / "names.csv"
    table.write_text("a,a\n1,2\n3,4\n")
    command = [sys.executable, "-m", "imboost", "fit", str(table)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"imboost: {table} has several columns called 'a'; rename them.\n"


def test_every_public_name_is_there():
    for name in set(imboost.__all__) - {"__version__"}:
        assert getattr(imboost, name).__name__ == name
    with pytest.raises(AttributeError, match="Nothing"):
        _ = imboost.Nothing


def test_dir_lists_the_public_names():
    assert dir(imboost) == sorted(imboost.__all__)
    assert {"IMBoost", "TableDetector", "Session", "save", "load"} <= set(dir(imboost))


def test_every_detector_is_a_public_name():
    assert {type(make()).__name__ for make in DETECTORS.values()} <= set(imboost.__all__)


def test_the_version_is_that_of_the_installed_package():
    assert imboost.__version__ == version("imboost")


@pytest.mark.parametrize("device", DEVICES)
def test_a_detector_computes_on_the_device_it_is_told(device, planted):
    detector = make_quick("imboost", device=device).fit(planted.X)
    on_cpu = make_quick("imboost", device="cpu").fit(planted.X)
    close = np.corrcoef(detector.decision_scores_, on_cpu.decision_scores_)[0, 1]
    assert close > 0.99


def test_a_device_the_machine_lacks_is_refused():
    with pytest.raises(SettingError, match="a device this machine has"):
        resolve_device("cuda:99")


def test_labels_pass_through_and_none_means_unlabelled():
    assert check_labels([0, 1, -1], 3).tolist() == [0, 1, -1]
    assert check_labels(None, 2).tolist() == unlabelled(2).tolist() == [-1, -1]
    assert check_labels(np.array([[1.0], [0.0]]), 2).tolist() == [1, 0]


def test_a_missing_package_is_named_with_the_extra_that_brings_it():
    require("Excel files", "tables", "json")
    with pytest.raises(MissingPackageError, match=r"needs no-such-one: .* 'imboost\[tables\]'"):
        require("Reading Excel files", "tables", "json", "no_such_one")


def test_an_unknown_name_without_a_near_one_lists_what_there_is():
    message = str(UnknownNameError("detector", "xyzzy", ["odim", "altbi"]))
    assert message == "Unknown detector 'xyzzy'. Known: altbi, odim."


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (True, {}, "must be a number, got True"),
        ("3", {"whole": True}, "must be an integer, got '3'"),
        (2.5, {"whole": True}, "must be an integer, got 2.5"),
        (0, {"minimum": 1}, "must be at least 1, got 0"),
        (0, {"above": 0, "maximum": 2}, "must be above 0 and at most 2, got 0"),
        (float("nan"), {"minimum": 0}, "must be at least 0 and finite, got nan"),
        (float("inf"), {"minimum": 0}, "must be at least 0 and finite, got inf"),
        (float("inf"), {}, "must be finite, got inf"),
    ],
)
def test_a_number_out_of_range_is_named(value, limits, message):
    with pytest.raises((SettingError, TypeError), match=f"size {message}"):
        check_number("size", value, **limits)


def test_numpy_numbers_are_numbers():
    check_number("size", np.int64(3), minimum=1, whole=True)
    check_number("fraction", np.float32(0.5), above=0)
