"""One ONNX graph from the columns of a table to the score."""

from imboost.bundle.export.exporting import export_onnx
from imboost.bundle.export.inputs import onnx_inputs

__all__ = ["export_onnx", "onnx_inputs"]
