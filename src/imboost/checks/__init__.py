"""Contract checks to run on your own detector or query strategy.

Like scikit-learn's estimator checks, they raise an AssertionError that names the violated rule.
"""

from imboost.checks.detector import check_detector
from imboost.checks.query import check_query_strategy

__all__ = ["check_detector", "check_query_strategy"]
