"""Detectors without a neural network, built on scikit-learn, PyOD, XGBoost and coniferest."""
