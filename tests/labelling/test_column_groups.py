"""Groups of rows that one answer may cover."""

import numpy as np
import pyarrow as pa
import pytest

from imboost.labelling.columns import MAX_GROUP, Columns, find_group, find_suspects

N = 400


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    amount = rng.normal(100, 10, N)
    amount[:5] = [900, 1000, 950, 980, -700]  # four far above, one far below
    city = np.array(["Rome", "Oslo", "Bonn", "Lyon"])[rng.integers(4, size=N)]
    city[:2], city[2:5] = "Rome", "Oslo"
    return pa.table({"amount": amount, "city": city, "size": rng.normal(size=N)})


@pytest.fixture
def columns(table):
    parsed = {
        "amount": table["amount"].to_numpy(),
        "city": table["city"],
        "size": table["size"].to_numpy(),
    }
    return Columns(table, parsed, [])


@pytest.fixture
def scores():
    scores = np.linspace(0.3, 0.0, N)
    scores[:5] = [0.99, 0.98, 0.97, 0.96, 0.95]
    return scores


def test_rows_extreme_on_the_same_side_form_a_group(columns, scores):
    reason, rows = find_group(columns, 0, ["amount"], scores, find_suspects(scores, 0.5))
    assert rows == [1, 2, 3]
    assert "amount" in reason


def test_rows_of_a_group_share_the_first_two_reasons(columns, scores):
    assert find_group(columns, 0, ["amount", "city"], scores, find_suspects(scores, 0.5))[1] == [1]


def test_rows_with_low_scores_are_not_grouped(columns, scores):
    scores[2] = 0.0
    assert find_group(columns, 0, ["amount"], scores, find_suspects(scores, 0.5))[1] == [1, 3]


def test_a_row_with_a_low_score_has_no_group(columns, scores):
    scores[0] = 0.0
    assert find_group(columns, 0, ["amount"], scores, find_suspects(scores, 0.5))[1] == []


def test_a_number_hardly_beyond_the_range_is_not_like_one_far_beyond(table, scores):
    amount = table["amount"].to_numpy().copy()
    amount[3] = 150  # beyond the fences of about 75 and 125, but not by much
    parsed = {"amount": amount}
    assert find_group(
        Columns(table, parsed, []), 1, ["amount"], scores, find_suspects(scores, 0.5)
    )[1] == [0, 2]


def test_rare_categories_form_a_group_but_not_where_most_are_rare(table, scores):
    city = table["city"].to_pylist()
    city[:3] = ["xx1", "xx2", "Rome"]
    columns = Columns(table, {"city": pa.chunked_array([city])}, [])
    assert find_group(columns, 0, ["city"], scores, find_suspects(scores, 0.5))[1] == [1]
    shops = pa.chunked_array([[f"shop {number}" for number in range(N)]])
    assert (
        find_group(
            Columns(table, {"shop": shops}, []), 0, ["shop"], scores, find_suspects(scores, 0.5)
        )[1]
        == []
    )


def test_without_reasons_near_duplicates_form_a_group(table, scores):
    parsed = {name: np.repeat(np.arange(N // 2, dtype=float), 2) ** 2 for name in ("a", "b", "c")}
    reason, rows = find_group(
        Columns(table, parsed, []), 2, [], scores, find_suspects(scores, 0.5)
    )
    assert rows == [3]
    assert "nearly all" in reason


def test_missing_cells_are_like_missing_cells(table, scores):
    amount = table["amount"].to_numpy().copy()
    amount[[0, 3]] = np.nan
    columns = Columns(table, {"amount": amount}, [])
    assert find_group(columns, 0, ["amount"], scores, find_suspects(scores, 0.5))[1] == [3]


def test_a_group_is_small_enough_to_look_through(table):
    columns = Columns(table, {"city": pa.chunked_array([["Rome"] * N])}, [])
    scores = np.linspace(1, 0.6, N)
    assert find_group(columns, 7, ["city"], scores, find_suspects(scores, 0.5))[1] == [
        row for row in range(MAX_GROUP + 1) if row != 7
    ]


def test_a_number_hardly_below_the_range_is_not_like_one_far_below(table, scores):
    amount = table["amount"].to_numpy().copy()
    amount[:3] = [-700, 50, -600]
    columns = Columns(table, {"amount": amount}, [])
    assert find_group(columns, 0, ["amount"], scores, find_suspects(scores, 0.5))[1] == [2, 4]


def test_numbers_within_the_range_are_alike_only_if_nearly_equal(table, scores):
    amount = table["amount"].to_numpy().copy()
    amount[:4] = [100.0, 101.0, 110.0, 90.0]  # the fences are about 50 apart
    columns = Columns(table, {"amount": amount}, [])
    assert [
        row
        for row in find_group(columns, 0, ["amount"], scores, find_suspects(scores, 0.5))[1]
        if row < 4
    ] == [1]


def test_rows_that_break_the_same_rule_form_a_group_whatever_their_values(table, scores):
    parsed = {"amount": table["amount"].to_numpy(), "size": table["size"].to_numpy()}
    broken = np.zeros(N, dtype=bool)
    broken[[1, 4]] = True
    columns = Columns(table, parsed, [], {"amount": broken})
    suspects = find_suspects(scores, 0.5)
    reason, rows = find_group(columns, 1, ["amount", "size"], scores, suspects, {"amount"})
    assert rows == [4]  # far below, while row 1 is far above
    assert reason == "unusual in amount by a broken rule"
    assert find_group(columns, 1, ["amount"], scores, suspects)[1] == [0, 2, 3]
