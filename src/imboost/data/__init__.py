"""Data in: tables with known labels, their splits and their scaling."""

from imboost.data.adbench import find_datasets, load_dataset, read_dataset
from imboost.data.dataset import Dataset
from imboost.data.demo import load_demo
from imboost.data.scaling import UnitScaling
from imboost.data.split import Split, split_dataset
from imboost.data.synthetic import planted_outliers

__all__ = [
    "Dataset",
    "Split",
    "UnitScaling",
    "find_datasets",
    "load_dataset",
    "load_demo",
    "planted_outliers",
    "read_dataset",
    "split_dataset",
]
