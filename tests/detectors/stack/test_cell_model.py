"""Cells that the rest of their row does not let expect."""

import numpy as np
import pytest

from imboost.detectors.stack.cell_model import CellSurprise
from imboost.tables.layout import Feature, Kind, Layout

N = 400
LAYOUT = Layout(
    (
        Feature("size", Kind.NUMERIC, 0, 1),
        Feature("weight", Kind.NUMERIC, 1, 2),
        Feature("weight", Kind.MISSING_INDICATOR, 2, 3),
        Feature("sort", Kind.CATEGORICAL, 3, 6),
    )
)


@pytest.fixture(scope="module")
def table():
    """Return rows whose weight follows from their size, and whose sort from both."""
    rng = np.random.default_rng(0)
    size = rng.uniform(size=N)
    weight = size + 0.02 * rng.normal(size=N)
    sorts = np.eye(3)[(size > 0.5).astype(int)]
    return np.column_stack([size, weight, np.zeros(N), sorts])


@pytest.fixture(scope="module")
def surprise(table):
    return CellSurprise(table, LAYOUT, 30, 10_000, 0)


def surprises_by(surprise, rows):
    return surprise.judge(rows)[0]


def expected_by(surprise, rows):
    return surprise.judge(rows)[1]


def spoiled(table, **cells):
    row = table[[np.argmin(np.abs(table[:, 0] - 0.2))]].copy()
    for column, value in cells.items():
        row[0, int(column[1:])] = value
    return row


def test_a_number_that_does_not_follow_from_the_others_is_surprising(table, surprise):
    [[_, usual, _]] = surprises_by(surprise, spoiled(table))
    [[_, unusual, _]] = surprises_by(surprise, spoiled(table, c1=0.8))
    assert usual < 3 < unusual


def test_a_level_that_does_not_fit_the_others_is_surprising_and_a_new_one_more(table, surprise):
    [[_, _, usual]] = surprises_by(surprise, spoiled(table))
    [[_, _, unusual]] = surprises_by(surprise, spoiled(table, c3=0, c4=1))
    [[_, _, unheard]] = surprises_by(surprise, spoiled(table, c3=0, c5=1))
    assert usual < 1 < 2 < unusual < unheard


def test_a_few_numbers_very_far_do_not_hide_what_follows_from_the_others(table):
    far = table.copy()
    far[::150, 0] = 1e3, 1e6, 1e9
    surprise = CellSurprise(far, LAYOUT, 30, 10_000, 0)
    [[usual, _, _]] = surprises_by(surprise, spoiled(table))
    [[unusual, _, _]] = surprises_by(surprise, spoiled(table, c1=0.8))
    assert usual < 1 < 2 < unusual


def test_a_missing_cell_surprises_only_where_hardly_any_is_missing(table, surprise):
    gap = {"c1": np.nan, "c2": 1.0}
    [[_, missing, _]] = surprises_by(surprise, spoiled(table, **gap))
    assert missing > 3
    often = table.copy()
    often[::5, 1:3] = np.nan, 1.0
    [[_, missing, _]] = surprises_by(
        CellSurprise(often, LAYOUT, 30, 10_000, 0), spoiled(table, **gap)
    )
    assert missing == 0


def test_a_missing_number_is_expected_from_the_others(table, surprise):
    row = spoiled(table, c1=np.nan, c2=1.0)
    assert expected_by(surprise, row)[0, 1] == pytest.approx(row[0, 0], abs=0.1)


@pytest.fixture(scope="module")
def wide():
    """Return rows of many columns that follow from three numbers."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 3)) @ rng.normal(size=(3, 90)) + 0.1 * rng.normal(size=(N, 90))


@pytest.fixture(scope="module")
def wide_surprise(wide):
    names = [str(number) for number in range(wide.shape[1])]
    return CellSurprise(wide, Layout.of_numbers(names), 30, 10_000, 0)


def test_among_many_columns_a_number_that_does_not_follow_is_surprising(wide, wide_surprise):
    row = wide[[0]].copy()
    row[0, 7] += 4.0
    assert surprises_by(wide_surprise, row)[0].argmax() == 7
    assert (
        surprises_by(wide_surprise, row)[0, 7] > surprises_by(wide_surprise, wide[[0]]).max() + 1
    )


def test_among_many_columns_missing_numbers_are_filled_from_the_others(wide, wide_surprise):
    row = wide[[0]].copy()
    row[0, 7] = np.nan
    assert abs(expected_by(wide_surprise, row)[0, 7] - wide[0, 7]) < 0.3 * wide[:, 7].std()


def test_no_row_is_judged_by_a_forest_that_saw_it_or_an_equal_one(table):
    rng = np.random.default_rng(1)
    noise = table.copy()
    noise[:, 1] = rng.uniform(size=N)  # nothing to learn but by heart
    twice = np.vstack([noise, noise])
    judged = surprises_by(CellSurprise(twice, LAYOUT, 30, 10_000, 0), twice)[:, 1]
    np.testing.assert_array_equal(judged[:N], judged[N:])
    expected = noise[:, 1].mean()
    error = np.abs(noise[:, 1] - expected)
    # Knowing rows by heart would make all of them unsurprising, far ones too.
    assert np.corrcoef(judged[:N], error)[0, 1] > 0.5


def test_a_rows_surprise_does_not_depend_on_its_company(table, surprise):
    together = surprises_by(surprise, table[:40])
    np.testing.assert_array_equal(
        together, np.vstack([surprises_by(surprise, row[None]) for row in table[:40]])
    )


def test_few_rows_and_a_single_column_have_surprises_too():
    layout = Layout.of_numbers(["a"])
    for n in (2, 3, 8):
        table = np.linspace(0, 1, n)[:, None]
        assert np.isfinite(surprises_by(CellSurprise(table, layout, 5, 100, 0), table)).all()


def test_what_is_expected_follows_from_the_other_cells(table, surprise):
    row = spoiled(table, c1=0.8)
    assert expected_by(surprise, row)[0, 1] == pytest.approx(row[0, 0], abs=0.1)
    assert expected_by(surprise, spoiled(table, c3=0, c4=1))[0, 3:].tolist() == [1, 0, 0]
    assert expected_by(surprise, spoiled(table, c1=np.nan, c2=1.0))[0, 2] == 0
