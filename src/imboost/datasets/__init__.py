"""Demo and synthetic data with known labels."""

from imboost.datasets.dataset import Dataset, load_demo, planted_outliers

__all__ = ["Dataset", "load_demo", "planted_outliers"]
