"""Save and load trained detectors without pickle."""

from imboost.persistence.saved_model import load, save

__all__ = ["load", "save"]
