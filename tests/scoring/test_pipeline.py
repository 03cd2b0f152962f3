"""Tables are scored in batches, in order, without keeping what was read."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from imboost.parallel import map_in_order
from imboost.scoring.pipeline import scan
from imboost.tables.files import TableFiles


def test_few_batches_are_in_memory_at_a_time():
    drawn, done = [], []

    def items():
        for number in range(20):
            drawn.append(number)
            yield number

    for result in map_in_order(lambda number: number * 2, items(), 2):
        done.append(result)
        assert len(drawn) - len(done) <= 3
    assert done == [2 * number for number in range(20)]


def test_what_was_read_of_a_file_is_not_kept(tmp_path):
    path = tmp_path / "long.parquet"
    table = pa.table({"size": np.random.default_rng(0).normal(size=1_000_000)})
    pyarrow.parquet.write_table(table, path, row_group_size=50_000)
    n_bytes = table.nbytes
    del table
    before = pa.total_allocated_bytes()
    batches = scan(TableFiles.find(path).batches())
    kept = [pa.total_allocated_bytes() - before for _ in batches]
    assert max(kept) < n_bytes / 3


def test_an_error_in_a_batch_stops_all():
    drawn = []

    def items():
        for number in range(100):
            drawn.append(number)
            yield number

    with pytest.raises(ZeroDivisionError):
        list(map_in_order(lambda number: 1 // (number - 3), items(), 2))
    assert len(drawn) < 10
