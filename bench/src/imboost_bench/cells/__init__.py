"""Benchmark of wrong cells: errors planted into real tables, and how well they are found."""

from imboost_bench.cells.evaluate import evaluate_cells
from imboost_bench.cells.planting import (
    BUILDING,
    REPORTING,
    PlantedTable,
    load_real_table,
    plant_errors,
)

__all__ = [
    "BUILDING",
    "REPORTING",
    "PlantedTable",
    "evaluate_cells",
    "load_real_table",
    "plant_errors",
]
