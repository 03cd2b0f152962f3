"""Benchmark and demo data with known labels."""

from imboost.datasets.adbench import find_datasets, load_dataset, read_dataset
from imboost.datasets.dataset import Dataset, Split, limit_outliers, split_dataset
from imboost.datasets.digits import load_demo
from imboost.datasets.synthetic import planted_outliers

__all__ = [
    "Dataset",
    "Split",
    "find_datasets",
    "limit_outliers",
    "load_dataset",
    "load_demo",
    "planted_outliers",
    "read_dataset",
    "split_dataset",
]
