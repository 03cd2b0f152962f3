"""Backbones by name.

A new backbone is one file with a class like `MLPVAE` (see `Backbone`) and one line in `BACKBONES`.
"""

from __future__ import annotations

from imboost.models.backbone import BackboneFactory
from imboost.models.flow import NormalisingFlow
from imboost.models.mlp_vae import MLPVAE

BACKBONES: dict[str, BackboneFactory] = {
    "vae": MLPVAE,
    "flow": NormalisingFlow,
}
