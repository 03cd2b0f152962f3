"""The classes that a bundle may hold: one line each, and no other is ever made from a file."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
)
from torch import nn

from imboost.decide.calibration import Calibration
from imboost.detectors import ALTBI, ODIM, DeepSAD, DeepSVDD, IMBoost, Stack, Trees
from imboost.detectors.stack.base_learners import (
    ForestExpert,
    LinearExpert,
    ResidualProcess,
    ViewExpert,
    ViewOpinion,
)
from imboost.detectors.stack.cell_model import CellSurprise
from imboost.detectors.stack.conditional import (
    ComponentExpectations,
    ExpectedLevel,
    ExpectedNumber,
    ForestExpectations,
)
from imboost.detectors.stack.neighbors import NeighbourDistances
from imboost.detectors.stack.pca import Rest, Rotation
from imboost.detectors.stack.unsupervised import Surroundings
from imboost.detectors.table_detector import TableDetector
from imboost.explain.reference_values import ReferenceCategories, ReferenceNumbers, ReferenceTimes
from imboost.models import MLPVAE, NormalisingFlow
from imboost.models.hypersphere import Hypersphere, MLPEncoder
from imboost.models.likelihood import CellDensity
from imboost.models.stacked import GaussianHead, HiddenLayer, LinearLayer
from imboost.persistence.forests import forest
from imboost.persistence.serializers import (
    Way,
    attributes,
    choice,
    flow,
    network,
    on_cpu,
    random_source,
    record,
)
from imboost.stats.folds import RowFolds
from imboost.stats.ranks import RankTransform
from imboost.stats.scaling import MinMaxScaling, StandardScaling
from imboost.tables.encoder import CategoryEncoder, DatetimeEncoder, NumberEncoder, TableEncoder
from imboost.tables.layout import Feature, Kind, Layout
from imboost.tables.number_scaling import NumberScaling
from imboost.tables.parsers import CategoryParser, DatetimeParser, NumberParser
from imboost.tables.roles import ColumnFacts, Role

DETECTORS: dict[type, Way] = {
    TableDetector: attributes(),
    Stack: attributes(),
    Trees: attributes(),
    IMBoost: attributes(),
    ALTBI: attributes(),
    ODIM: attributes(),
    DeepSVDD: attributes(),
    DeepSAD: attributes(),
}
"""What can be saved."""

CLASSES: dict[type, Way] = {
    **DETECTORS,
    # From a table to a matrix.
    ColumnFacts: record(),
    Role: choice(),
    TableEncoder: record(),
    NumberParser: record(),
    DatetimeParser: record(),
    CategoryParser: record(),
    NumberEncoder: record(),
    DatetimeEncoder: record(),
    CategoryEncoder: record(),
    NumberScaling: record(),
    Layout: record(),
    Feature: record(),
    Kind: choice(),
    ReferenceNumbers: record(),
    ReferenceCategories: record(),
    ReferenceTimes: record(),
    # Of detectors without a network.
    MinMaxScaling: record(),
    StandardScaling: record(),
    Surroundings: attributes(),
    NeighbourDistances: attributes(without=("_search",)),
    Rotation: attributes(),
    Rest: attributes(),
    RowFolds: attributes(),
    RankTransform: record(),
    CellSurprise: attributes(),
    ForestExpectations: attributes(),
    ComponentExpectations: attributes(),
    ExpectedNumber: attributes(),
    ExpectedLevel: attributes(),
    ViewExpert: attributes(),
    ViewOpinion: attributes(),
    ForestExpert: attributes(),
    LinearExpert: attributes(),
    ResidualProcess: attributes(),
    IsolationForest: forest(),
    ExtraTreesClassifier: forest(),
    ExtraTreesRegressor: forest(),
    RandomForestClassifier: forest(),
    # Of detectors with a network.
    MLPVAE: network(),
    NormalisingFlow: flow(),
    Hypersphere: network(),
    MLPEncoder: network(),
    HiddenLayer: network(),
    LinearLayer: network(),
    GaussianHead: network(),
    nn.ModuleList: network(),
    CellDensity: attributes(),
    # Of decisions.
    Calibration: record(),
    # Of settings.
    torch.device: on_cpu(),
    np.random.RandomState: random_source(),
}
"""How objects of a class are taken apart and put together."""
