"""Whether the rows of a data set are the paper's."""

import pytest

from imboost_bench.analysis.method_key import rows_unlike_paper


@pytest.mark.parametrize(
    ("group", "outlier_share", "expected"),
    [
        ("wine", "0.5", ""),  # 7.75% of its rows are outliers, so that no limit removes any
        ("wine", "0.05", "outliers all in the paper, up to 5% here"),
        ("thyroid", "0.02", ""),
        ("thyroid", "0.5", "outliers up to 2% in the paper, up to 50% here"),
    ],
)
def test_a_limit_matters_only_if_it_removes_outliers(group, outlier_share, expected):
    assert rows_unlike_paper(group, outlier_share, 1) == expected
