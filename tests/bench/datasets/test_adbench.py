import io

import numpy as np
import pytest

from adbench_folder import write_set
from imboost.errors import DataError, UnknownNameError
from imboost_bench.datasets.adbench import find_datasets, load_dataset

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.repeat([0, 1], [54, 6])


def load_one(folder, **arrays):
    write_set(folder, "Classical/1_some.npz", **arrays)
    return load_dataset(folder, "some")


def load_bytes(folder, content):
    path = folder / "Classical" / "1_some.npz"
    path.parent.mkdir()
    path.write_bytes(content)
    return load_dataset(folder, "some")


def as_bytes(save, *arrays, **named):
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("file_name", "name", "group"),
    [
        ("Classical/38_thyroid.npz", "thyroid", "thyroid"),
        ("Classical/22_magic.gamma.npz", "magic.gamma", "magic.gamma"),
        ("Classical/31_satimage-2.npz", "satimage-2", "satimage-2"),
        ("thyroid.npz", "thyroid", "thyroid"),
        ("CV_by_ViT/MVTec-AD_bottle.npz", "MVTec-AD_bottle", "MVTec-AD"),
        ("CV_by_ViT/MVTec-AD_metal_nut.npz", "MVTec-AD_metal_nut", "MVTec-AD"),
        ("CV_by_ViT/CIFAR10_0.npz", "CIFAR10_0", "CIFAR10"),
        ("NLP_by_RoBERTa/amazon.npz", "amazon", "amazon"),
        ("NLP_by_RoBERTa/20news_3.npz", "20news_3", "20news"),
        ("CV_by_ResNet18/SVHN_1.npz", "CV_by_ResNet18/SVHN_1", "CV_by_ResNet18/SVHN"),
        ("NLP_by_BERT/imdb.npz", "NLP_by_BERT/imdb", "NLP_by_BERT/imdb"),
    ],
)
def test_a_set_is_named_without_its_number_and_grouped_as_in_the_paper(
    tmp_path, file_name, name, group
):
    write_set(tmp_path, file_name, X=X, y=Y)
    data = load_dataset(tmp_path, name)
    assert (data.name, data.group) == (name, group)
    assert np.array_equal(data.X, X)
    assert np.array_equal(data.y, Y)


def test_sets_come_in_the_order_of_adbenchs_numbers_tables_first(tmp_path):
    for file_name in (
        "CV_by_ViT/SVHN_0.npz",
        "Classical/10_cover.npz",
        "Classical/2_annthyroid.npz",
        "CV_by_ResNet18/SVHN_0.npz",
    ):
        write_set(tmp_path, file_name, X=X, y=Y)
    assert list(find_datasets(tmp_path)) == [
        "annthyroid",
        "cover",
        "SVHN_0",
        "CV_by_ResNet18/SVHN_0",
    ]


def test_the_folder_may_be_given_as_text(tmp_path):
    write_set(tmp_path, "Classical/38_thyroid.npz", X=X, y=Y)
    assert list(find_datasets(str(tmp_path))) == ["thyroid"]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int16, np.float16, ">f8", bool])
def test_numbers_of_other_types_become_floats(tmp_path, kind):
    table = np.abs(X * 10).astype(kind)
    data = load_one(tmp_path, X=table, y=Y)
    assert data.X.dtype == np.float64
    assert np.array_equal(data.X, table)


def test_float32_stays_float32(tmp_path):
    assert load_one(tmp_path, X=X.astype(np.float32), y=Y).X.dtype == np.float32


@pytest.mark.parametrize("kind", [np.uint8, np.float64, bool])
def test_labels_of_any_number_type_are_taken(tmp_path, kind):
    assert np.array_equal(load_one(tmp_path, X=X, y=Y.astype(kind)).y, Y)


def test_labels_in_a_column_are_taken(tmp_path):
    assert np.array_equal(load_one(tmp_path, X=X, y=Y[:, None]).y, Y)


def test_a_missing_folder_says_where_to_get_the_files(tmp_path):
    with pytest.raises(DataError, match=r"No folder .*absent.*Minqi824/ADBench.*--data"):
        find_datasets(tmp_path / "absent")


def test_an_empty_folder_says_where_to_get_the_files(tmp_path):
    with pytest.raises(DataError, match=r"No \.npz file below .*Minqi824/ADBench.*--data"):
        find_datasets(tmp_path)


def test_two_files_of_one_name_are_refused(tmp_path):
    for folder in ("Classical", "old"):
        write_set(tmp_path, f"{folder}/38_thyroid.npz", X=X, y=Y)
    with pytest.raises(DataError, match=r"called thyroid: .*Classical.*old.*Keep one"):
        find_datasets(tmp_path)


def test_an_unknown_name_suggests_the_nearest(tmp_path):
    for file_name in ("Classical/38_thyroid.npz", "Classical/45_wine.npz"):
        write_set(tmp_path, file_name, X=X, y=Y)
    with pytest.raises(UnknownNameError, match=r"'tyroid'. Did you mean 'thyroid'\?.*wine"):
        load_dataset(tmp_path, "tyroid")


ARCHIVE = as_bytes(np.savez_compressed, X=X, y=Y)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(ARCHIVE[: len(ARCHIVE) // 2], id="cut short"),
        pytest.param(ARCHIVE[:100] + b"\xff" * 60 + ARCHIVE[160:], id="overwritten inside"),
        pytest.param(b"", id="empty"),
        pytest.param(b"<html>404: not found</html>", id="a web page"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\n", id="a pointer"),
        pytest.param(as_bytes(np.save, X), id="a bare array"),
    ],
)
def test_a_damaged_file_is_told_in_one_line_with_its_path(tmp_path, content):
    with pytest.raises(DataError, match=r"1_some\.npz: not a readable") as caught:
        load_bytes(tmp_path, content)
    assert "Fetch it again" in str(caught.value)
    assert "pickle" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "held"), [({"y": Y}, "y"), ({"X": X}, "X"), ({"a": X, "b": Y}, "a, b")]
)
def test_a_file_without_both_arrays_says_what_it_holds(tmp_path, arrays, held):
    with pytest.raises(DataError, match=rf"arrays X and y; this one holds {held}\."):
        load_one(tmp_path, **arrays)


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return self.mark.touch, ()


@pytest.mark.parametrize("array", ["X", "y"])
def test_pickled_objects_are_refused_and_not_executed(tmp_path, array):
    mark = tmp_path / "executed"
    objects = np.full(len(Y), None)
    objects[:] = [Trap(mark)] * len(Y)
    with pytest.raises(DataError, match="not a readable"):
        load_one(tmp_path, **{"X": X, "y": Y, array: objects})
    assert not mark.exists()


@pytest.mark.parametrize("labels", [Y * 2, Y - 1, np.where(Y == 1, np.nan, 0.0), Y + 0.5])
def test_labels_other_than_0_and_1_are_refused(tmp_path, labels):
    with pytest.raises(DataError, match="y must hold only 0"):
        load_one(tmp_path, X=X, y=labels)


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_class_alone_are_refused(tmp_path, label):
    with pytest.raises(DataError, match=rf"both 0 \(inlier\) and 1 \(outlier\).*got \[{label}\]"):
        load_one(tmp_path, X=X, y=np.full(len(Y), label))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_values_are_refused(tmp_path, value):
    table = X.copy()
    table[7, 1] = value
    with pytest.raises(DataError, match="some: X holds missing or infinite values"):
        load_one(tmp_path, X=table, y=Y)


@pytest.mark.parametrize("table", [X.astype(str), X + 1j, X.astype("timedelta64[s]")])
def test_what_is_not_a_real_number_is_refused(tmp_path, table):
    with pytest.raises(DataError, match="X and y must be numbers, got"):
        load_one(tmp_path, X=table, y=Y)


def test_labels_of_another_length_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"one label per row of X, got \(59,\) for 60 rows"):
        load_one(tmp_path, X=X, y=Y[1:])


@pytest.mark.parametrize("table", [X[:, 0], X[:0], X[:, :0], X[:, :, None]])
def test_what_is_not_a_table_is_refused(tmp_path, table):
    with pytest.raises(DataError, match="X must be a table with rows and columns"):
        load_one(tmp_path, X=table, y=Y[: len(table)])
