"""Errors planted into a table, and how well they are found."""

import numpy as np
import pandas as pd
import pytest

from imboost_bench.cells import evaluate_cells, plant_errors
from imboost_bench.cells.error_kinds import ADDED_ROWS, KINDS, Columns
from imboost_bench.cells.evaluate import largest_robust_z, top_rows

N = 700


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    price, count = rng.integers(100, 900, N) / 100, rng.integers(20, 90, N)
    start = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(300, size=N), "D")
    region = rng.choice(["north", "south", "west"], N)
    return pd.DataFrame(
        {
            "price": price,
            "count": count,
            "total": price * count,
            "height": np.where(region == "north", 10, 90) + rng.normal(size=N),
            "year": rng.integers(1950, 2020, N),
            "start": start.strftime("%Y-%m-%d"),
            "end": (start + pd.to_timedelta(rng.integers(1, 90, N), "D")).strftime("%Y-%m-%d"),
            "region": region,
            "city": [f"{one} city" for one in region],
        }
    )


@pytest.fixture(scope="module")
def planted(frame):
    return plant_errors(frame, n_per_kind=1, seed=1)


def test_every_kind_is_planted_into_a_table_that_has_all_columns(planted):
    assert set(planted.kinds.tolist()) - {""} == set(KINDS)


def test_a_row_has_at_most_one_error_and_the_cells_named_differ(frame, planted):
    texts = set(Columns(frame).text.itertuples(index=False, name=None))
    rows = planted.table.to_pylist()
    for row, kind, columns in zip(rows, planted.kinds, planted.columns, strict=True):
        assert bool(columns) == (kind != "" and kind not in ADDED_ROWS)
        is_unchanged = tuple(row.values()) in texts
        assert is_unchanged == (kind in ("", "exact duplicate"))


def test_the_same_seed_plants_the_same_errors(frame, planted):
    again = plant_errors(frame, n_per_kind=1, seed=1)
    assert again.table.equals(planted.table)
    assert again.columns == planted.columns


def test_the_baseline_is_the_most_deviating_number(planted):
    top = top_rows(largest_robust_z(planted), planted.is_error, 1)
    assert len(top) == planted.is_error.sum()
    assert planted.is_error[top[0]]


def test_figures_count_the_errors_among_the_highest_scores(planted):
    before, after = evaluate_cells("made", planted, answers=(0, 10)).itertuples()
    assert (before.n_answers, after.n_answers) == (0, 10)
    assert before.n_errors == len(KINDS) == sum(before.n_of_kind.values())
    assert before.share > before.baseline
    assert before.share <= before.share_twice
    assert set(before.column_ranks) == set(KINDS) - set(ADDED_ROWS)
    assert after.column_ranks == {}
