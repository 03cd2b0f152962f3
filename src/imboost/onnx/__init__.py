"""One ONNX graph from the columns of a table to the score."""

from imboost.onnx.export import export_onnx, onnx_inputs

__all__ = ["export_onnx", "onnx_inputs"]
