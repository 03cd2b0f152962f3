"""Generative models that compute importance log-weights of rows, without labels.

A new backbone is one file with a class like `MLPVAE` (see `Backbone`) and one line in `BACKBONES`.
"""

from imboost.models.backbone import (
    JOINT,
    Backbone,
    BackboneFactory,
    CellBackbone,
    check_decoder_batch_norm,
    concatenate_members,
)
from imboost.models.bounds import cubo, iwae
from imboost.models.diffusion import DiffusionModel
from imboost.models.flow import NormalisingFlow
from imboost.models.likelihood import gaussian_log_density
from imboost.models.mlp_vae import MLPVAE, Widths

__all__ = [
    "BACKBONES",
    "JOINT",
    "MLPVAE",
    "Backbone",
    "BackboneFactory",
    "CellBackbone",
    "DiffusionModel",
    "NormalisingFlow",
    "Widths",
    "check_decoder_batch_norm",
    "concatenate_members",
    "cubo",
    "gaussian_log_density",
    "iwae",
]

BACKBONES: dict[str, BackboneFactory] = {
    "vae": MLPVAE,
    "flow": NormalisingFlow,
    "diffusion": DiffusionModel,
}
"""Backbones by name."""
