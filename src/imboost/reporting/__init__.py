"""Figures, tables and pages, shared by the benchmark and the commands."""

from imboost.present.formatting import percent
from imboost.reporting.comparison_charts import (
    Mark,
    Panel,
    critical_difference_diagram,
    dot_plot,
    setting_panels,
)
from imboost.reporting.curves import learning_curves, picture, small_multiples, update_curves
from imboost.reporting.formatting import format_value
from imboost.reporting.page import render
from imboost.reporting.report_table import Matrix, Table

__all__ = [
    "Mark",
    "Matrix",
    "Panel",
    "Table",
    "critical_difference_diagram",
    "dot_plot",
    "format_value",
    "learning_curves",
    "percent",
    "picture",
    "render",
    "setting_panels",
    "small_multiples",
    "update_curves",
]
