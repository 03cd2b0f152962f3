"""Findings: what is wrong with a table, without a model."""

from imboost.findings.check import KINDS, check_table
from imboost.findings.finding import Finding

__all__ = ["KINDS", "Finding", "check_table"]
