import numpy as np
import pytest
from typer.testing import CliRunner

from adbench_folder import write_set
from imboost.errors import DataError
from imboost.present.formatting import percent
from imboost_bench.analysis.method_key import rows_unlike_paper
from imboost_bench.cli.main import app
from imboost_bench.datasets.adbench import load_dataset
from imboost_bench.paper import OUTLIER_SHARES, PARTS, paper_datasets
from imboost_bench.report.contents import data_set_table, difference


def write(folder, file_name, n_rows, n_columns, n_outliers):
    y = np.zeros(n_rows, dtype=np.int8)
    y[:n_outliers] = 1
    write_set(folder, file_name, X=np.zeros((n_rows, n_columns)), y=y)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "CV_by_ViT/SVHN_0.npz", 100, 4, 5)
    write(tmp_path, "CV_by_ViT/SVHN_1.npz", 100, 4, 5)
    write(tmp_path, "CV_by_ViT/MVTec-AD_bottle.npz", 60, 4, 10)
    write(tmp_path, "CV_by_ViT/MVTec-AD_cable.npz", 40, 4, 20)
    write(tmp_path, "Classical/45_wine.npz", 129, 13, 10)
    write(tmp_path, "Classical/99_own.npz", 20, 2, 1)
    return tmp_path


def sizes_of(folder):
    return data_set_table(folder).frame.set_index("data set")


def test_tables_come_first_with_their_sizes(folder):
    sizes = sizes_of(folder)
    assert list(sizes.index) == ["own", "wine", "MVTec-AD", "SVHN"]
    assert sizes.loc["wine", ["parts", "rows", "columns", "outliers"]].tolist() == [1, 129, 13, 10]
    assert sizes.loc["wine", "share"] == pytest.approx(0.0775, abs=1e-4)


def test_parts_are_added_up_unless_they_are_alike(folder):
    sizes = sizes_of(folder)
    assert sizes.loc["MVTec-AD", ["rows", "outliers"]].tolist() == [100, 30]
    assert sizes.loc["SVHN", ["parts", "rows", "outliers"]].tolist() == [2, 100, 5]


def test_what_differs_from_table_c1_is_listed(folder):
    differences = sizes_of(folder)["differs in"]
    assert differences["wine"] == ""
    assert differences["own"] == "not in the paper"
    assert differences["SVHN"] == (
        "2 of 10 parts; 5,208 rows in the paper; 512 columns in the paper; "
        "260 outliers in the paper"
    )


def test_other_data_of_the_same_size_is_not_the_same(folder):
    paper = paper_datasets().loc["mnist"].astype(int)
    write(folder, "Classical/24_mnist.npz", *paper[["rows", "columns", "outliers"]])
    assert sizes_of(folder).loc["mnist", "differs in"] == "another data set in the paper"
    result = CliRunner().invoke(app, ["datasets", "--data", str(folder)])
    [line] = [line for line in result.stdout.splitlines() if "│ mnist" in line]
    assert "another data set in" in line
    assert "the paper's runs use raw MNIST with 10% outliers." in result.stdout


@pytest.mark.parametrize("name", sorted(OUTLIER_SHARES))
def test_fewer_outliers_in_the_papers_runs_are_a_difference(name):
    """As in the report, which marks these data sets."""
    paper, n_parts = paper_datasets().loc[name.lower()], PARTS.get(name, 1)
    size = dict(paper) | {"share": paper["outliers"] / paper["rows"], "parts": n_parts}
    share = percent(OUTLIER_SHARES[name])
    assert difference(name, size) == f"outliers up to {share} in the paper, all here"
    assert rows_unlike_paper(name, "all", n_parts)


def test_the_table_has_both_numbers(folder):
    frame = data_set_table(folder).frame.set_index("data set")
    assert frame.loc["wine", ["rows", "paper's rows"]].tolist() == [129, 129]
    assert frame.loc["SVHN", ["columns", "paper's columns"]].tolist() == [4, 512]
    assert frame.loc[["own"], "paper's rows"].isna().all()


def test_a_file_without_a_table_is_named(folder):
    write_set(folder, "Classical/98_bad.npz", y=np.zeros(3))
    with pytest.raises(DataError, match=r"98_bad\.npz: an ADBench file holds arrays X and y"):
        data_set_table(folder)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((0, 3)), np.zeros(0), "X must be a table with rows and columns, got shape"),
        (
            np.zeros(4),
            np.array([0, 0, 0, 1]),
            "X must be a table with rows and columns, got shape",
        ),
        (np.zeros((3, 2)), np.array(["no", "no", "yes"]), "X and y must be numbers, got float64"),
        (np.full((3, 2), "a"), np.array([0, 0, 1]), "X and y must be numbers, got <U1"),
        (np.zeros((3, 2)), np.array([0, 1]), "y must have one label per row of X, got (2,) for 3"),
        (np.zeros((3, 2)), np.array([0, 2, 1]), "y must hold only 0 (inlier) and 1 (outlier)"),
        (np.zeros((3, 2)), np.zeros(3), "y must hold both 0 (inlier) and 1 (outlier)"),
    ],
    ids=["no rows", "a vector", "text", "text in X", "length", "other labels", "one class"],
)
def test_a_file_is_checked_as_when_it_is_read(X, y, message, folder):
    write_set(folder, "Classical/98_bad.npz", X=X, y=y)
    with pytest.raises(DataError) as listed:
        data_set_table(folder)
    with pytest.raises(DataError) as read:
        load_dataset(folder, "bad")
    assert message in str(listed.value)
    assert str(listed.value) == str(read.value)


def test_the_command_prints_every_data_set(folder):
    result = CliRunner().invoke(app, ["datasets", "--data", str(folder)], env={"COLUMNS": "160"})
    assert result.exit_code == 0
    lines = {
        line.split("│")[1].strip(): line for line in result.stdout.splitlines() if "│" in line
    }
    assert "7.8% │ –" in lines["wine"]
    assert "2 of 10 parts; 5,208 rows in the paper" in lines["SVHN"]
    assert "not in the paper" in lines["own"]
