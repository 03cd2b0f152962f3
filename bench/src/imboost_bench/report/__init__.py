"""The report of a benchmark: a page, the same as Markdown, and every table as CSV."""

from imboost_bench.report.page import write_report

__all__ = ["write_report"]
