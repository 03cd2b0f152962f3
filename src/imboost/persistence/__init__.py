"""Save and load trained detectors without pickle."""

from imboost.persistence.loading import load
from imboost.persistence.saving import save

__all__ = ["load", "save"]
