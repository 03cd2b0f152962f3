"""Detectors without a neural network, built on other libraries."""
