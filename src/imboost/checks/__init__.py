"""Contract suites: run them on your own query strategy or detector.

Each raises an AssertionError that says which promise was broken.
"""

from imboost.checks.detector import check_detector
from imboost.checks.query import check_query_strategy

__all__ = ["check_detector", "check_query_strategy"]
