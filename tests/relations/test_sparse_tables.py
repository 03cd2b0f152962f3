"""Sparse tables: columns of which no two cells are in the same row, and others."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from imboost.findings import check_table
from imboost.relations import Rules, discover, with_text_columns
from imboost.tables.schema import Schema

N = 120
KINDS = {
    "category": lambda rng, n: [f"t{code}" for code in rng.integers(0, 4, n)],
    "count": lambda rng, n: rng.integers(0, 20, n).astype(float).tolist(),
    "amount": lambda rng, n: np.round(rng.gamma(2, 50, n), 2).tolist(),
    "date": lambda rng, n: (np.datetime64("2024-01-01") + rng.integers(0, 90, n)).astype(str),
    "code": lambda rng, n: [f"K-{number}" for number in rng.permutation(n)],
}


def sparse_table(kinds, shares, seed, n=N):
    """Return a table in which each column has cells in its own share of the rows."""
    rng = np.random.default_rng(seed)
    columns = {}
    for at, (kind, (start, stop)) in enumerate(zip(kinds, shares, strict=True)):
        is_there = (np.arange(n) >= start * n) & (np.arange(n) < stop * n)
        cells = zip(KINDS[kind](rng, n), is_there, strict=True)
        columns[f"{kind}{at}"] = [str(cell) if there else None for cell, there in cells]
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def test_columns_that_are_never_filled_in_the_same_row_have_no_relation():
    table = sparse_table(["category"] * 2, [(0, 0.5), (0.5, 1)], 0)
    schema, parsed = Schema.fit_parse(table, dict.fromkeys(table.column_names, "categorical"))
    assert discover(schema, parsed) == []


parts = st.tuples(st.sampled_from([0, 0.25, 0.5]), st.sampled_from([0.25, 0.5, 0.75, 1]))


@settings(max_examples=40, deadline=None)
@given(
    columns=st.lists(st.tuples(st.sampled_from(sorted(KINDS)), parts), min_size=2, max_size=6),
    n=st.sampled_from([2, 29, 40, N]),
    seed=st.integers(0, 10),
)
def test_rules_and_findings_of_sparse_tables_are_about_their_cells(columns, n, seed):
    table = sparse_table(*zip(*columns, strict=True), seed, n)
    schema, parsed = Schema.fit_parse(table, needs_features=False)
    everything = with_text_columns(schema, table, parsed)
    for relation in discover(schema, everything):
        assert 0 < relation.support <= 1
        for row, broken in relation.violations(everything).items():
            assert 0 <= row < n
            assert None not in broken.cells
    rules = Rules.fit(schema, parsed)
    assert rules.transform(parsed).shape[1] == len(rules.columns)
    for finding in check_table(table, schema=(schema, parsed)):
        assert all(0 <= row < n for row in finding.rows)


def test_a_table_of_one_row_or_without_columns_that_are_used_has_no_rules():
    table = sparse_table(["category", "amount"], [(0, 1), (0, 1)], 0, 1)
    schema, parsed = Schema.fit_parse(table, {"category0": "categorical", "amount1": "numeric"})
    assert Rules.fit(schema, parsed).columns == ()
    assert Rules.fit(schema, {}).columns == ()
