"""Save and load trained detectors without pickle."""

from imboost.persistence.saving import load, save

__all__ = ["load", "save"]
