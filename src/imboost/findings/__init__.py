"""Findings: what is wrong with a table, without a model."""

from imboost.findings.check import check_table
from imboost.findings.finding import KINDS, Finding

__all__ = ["KINDS", "Finding", "check_table"]
