"""What happens to a test that needs a program which is not installed."""

import os

import pytest


def skip_or_fail(message):
    """Skip a test that needs what is not installed, or fail where every test must run."""
    if os.environ.get("IMBOOST_REQUIRE_ALL_TESTS"):
        pytest.fail(message)
    pytest.skip(message)
