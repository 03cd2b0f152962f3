"""Detectors that train a neural network."""
