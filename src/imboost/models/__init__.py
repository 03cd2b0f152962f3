"""Generative models that compute importance log-weights of rows, without labels.

A new backbone is one file with a subclass of `Backbone` and one line in `BACKBONES`.
"""

from imboost.models.backbone import Backbone
from imboost.models.bounds import cubo, iwae
from imboost.models.diffusion import DiffusionModel
from imboost.models.flow import NormalisingFlow
from imboost.models.likelihood import gaussian_log_density
from imboost.models.mlp_vae import MLPVAE, Widths

__all__ = [
    "BACKBONES",
    "MLPVAE",
    "Backbone",
    "DiffusionModel",
    "NormalisingFlow",
    "Widths",
    "cubo",
    "gaussian_log_density",
    "iwae",
]

BACKBONES: dict[str, type[Backbone]] = {
    "vae": MLPVAE,
    "flow": NormalisingFlow,
    "diffusion": DiffusionModel,
}
"""Backbones by name."""
