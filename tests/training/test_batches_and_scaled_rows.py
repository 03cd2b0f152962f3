import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from imboost.stats.scaling import MinMaxScaling
from imboost.training.loop import Schedule, draw_batch
from imboost.training.scaled_rows import ScaledRows

CPU = torch.device("cpu")


def test_batches_grow_as_in_the_paper():
    sizes = [Schedule().batch_size_at(epoch, 10**6) for epoch in range(100)]
    assert sizes[:11] == [128] * 11
    assert sizes[11] == int(128 * 1.03)
    assert sizes[99] == int(128 * 1.03**89)


@given(st.integers(0, 10_000), st.integers(1, 10**7))
def test_a_batch_is_never_larger_than_the_pool_or_the_cap(epoch, n_rows):
    assert 1 <= Schedule().batch_size_at(epoch, n_rows) <= min(n_rows, 20_000)


@pytest.mark.parametrize("pool", [50, np.arange(0, 500, 7)])
def test_a_batch_holds_distinct_rows_of_the_pool(pool):
    batch = draw_batch(pool, 20, np.random.default_rng(0))
    allowed = np.arange(pool) if isinstance(pool, int) else pool
    assert len(set(batch.tolist())) == 20
    assert np.isin(batch, allowed).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_come_scaled_with_rows_last(dtype):
    table = np.random.default_rng(0).normal(100, 5, (30, 3)).astype(dtype)
    scaling = MinMaxScaling.fit(table)
    batch = ScaledRows(table, scaling, CPU).take(np.array([4, 2]))
    assert batch.dtype == torch.float32
    np.testing.assert_allclose(batch.numpy(), scaling.transform(table[[4, 2]]).T, atol=1e-5)


def test_chunks_cover_the_table_once_in_order():
    table = np.random.default_rng(0).normal(size=(20_000, 3))
    rows = ScaledRows(table, MinMaxScaling.fit(table), CPU)
    parts = list(rows.chunks(5, torch.float64))
    assert len(parts) > 1
    joined = torch.cat([chunk for _, chunk in parts], dim=1).T.numpy()
    np.testing.assert_allclose(joined, MinMaxScaling.fit(table).transform(table))


def test_the_table_is_not_copied():
    table = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    rows = ScaledRows(table, MinMaxScaling.fit(table), CPU)
    before = rows.take(np.array([0])).clone()
    table[0] += 1
    assert not torch.equal(before, rows.take(np.array([0])))


def test_float64_keeps_small_differences_of_large_numbers():
    table = np.array([[1.7e9], [1.7e9 + 50.0], [1.7e9 + 100.0]])
    rows = ScaledRows(table, MinMaxScaling.fit(table), CPU)
    np.testing.assert_allclose(rows.take(np.arange(3)).numpy(), [[0.0, 0.5, 1.0]])
