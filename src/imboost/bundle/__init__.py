"""Trained detectors in folders: saved and loaded without pickle, and exported to ONNX."""

from imboost.bundle.export import export_onnx, onnx_inputs
from imboost.bundle.saving import load, save

__all__ = ["export_onnx", "load", "onnx_inputs", "save"]
