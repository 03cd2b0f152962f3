"""Demo and synthetic data with known labels."""

from imboost.datasets.dataset import Dataset
from imboost.datasets.digits import load_demo
from imboost.datasets.synthetic import planted_outliers

__all__ = ["Dataset", "load_demo", "planted_outliers"]
