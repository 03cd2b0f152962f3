"""Benchmark of wrong cells: errors planted into real tables, and how well they are found."""

from imboost.benchmark.cells.evaluate import CellsResult, evaluate_cells
from imboost.benchmark.cells.planting import PlantedTable, plant_errors
from imboost.benchmark.cells.real_tables import BUILDING, REPORTING, load_real_table

__all__ = [
    "BUILDING",
    "REPORTING",
    "CellsResult",
    "PlantedTable",
    "evaluate_cells",
    "load_real_table",
    "plant_errors",
]
