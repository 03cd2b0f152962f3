"""The classes of saved objects, by name. No other class is ever looked up for a name in a file."""

from __future__ import annotations

from imboost.decide import Calibration, Decision
from imboost.detectors import ALTBI, ODIM, DeepSAD, DeepSVDD, IMBoost, Stack, Trees
from imboost.detectors.distilled import Agreement, Distilled
from imboost.detectors.shallow.neighbor_distances import NeighborDistances
from imboost.detectors.stack.base_learners import (
    ForestLearner,
    GaussianProcessLearner,
    LinearLearner,
    ScoreLearner,
    ScoreModel,
)
from imboost.detectors.stack.cell_model import CellModel
from imboost.detectors.stack.conditionals import (
    CategoryForest,
    ForestConditional,
    NumberForest,
    PCAConditional,
)
from imboost.detectors.stack.ensemble import Ensemble
from imboost.detectors.stack.features import FeatureExtractor
from imboost.detectors.stack.in_context import InContextLearner
from imboost.detectors.stack.isolation import IsolationScores
from imboost.detectors.stack.neighbors import NeighborScores
from imboost.detectors.stack.pca import CrossFittedPCA, PrincipalComponents
from imboost.detectors.stack.pooling import LinearPool, LogarithmicPool
from imboost.detectors.stack.training_rows import TrainingRows
from imboost.detectors.stack.unsupervised import UnsupervisedScores
from imboost.detectors.table_detector import TableDetector
from imboost.explain.reference_values import ReferenceCategories, ReferenceNumbers, ReferenceTimes
from imboost.models import MLPVAE, DiffusionModel, NormalisingFlow
from imboost.models.hypersphere import Hypersphere
from imboost.models.perceptron import Perceptron
from imboost.relations import (
    DependencyRelation,
    FormatRelation,
    LinearRelation,
    OrderRelation,
    ProductRelation,
    RepeatedRows,
    Rules,
    SpellingRelation,
)
from imboost.stats.ranks import NormalScores, RankTransform
from imboost.stats.scaling import MinMaxScaling, StandardScaling
from imboost.stats.tails import TailScore
from imboost.tables.category_parser import BooleanParser, CategoryParser
from imboost.tables.column_encoders import CategoryEncoder, DatetimeEncoder, NumberEncoder
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.encoder import TableEncoder
from imboost.tables.layout import Feature, Kind, Layout
from imboost.tables.number_parser import NumberParser
from imboost.tables.number_scaling import NumberScaling
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema, Schema

# fmt: off
_DETECTORS = (TableDetector, Stack, Distilled, Trees, IMBoost, ALTBI, ODIM, DeepSVDD, DeepSAD)
_PARTS = (
    Schema, ColumnSchema, Role, NumberParser, DatetimeParser, CategoryParser, BooleanParser,
    TableEncoder, NumberEncoder, DatetimeEncoder, CategoryEncoder, NumberScaling,
    Layout, Feature, Kind,
    ReferenceNumbers, ReferenceCategories, ReferenceTimes,
    MinMaxScaling, StandardScaling, RankTransform, NormalScores, TailScore, Calibration,
    Decision,
    UnsupervisedScores, TrainingRows, NeighborDistances, NeighborScores, IsolationScores,
    CrossFittedPCA, PrincipalComponents,
    CellModel, ForestConditional, PCAConditional, NumberForest, CategoryForest,
    FeatureExtractor, ScoreModel,
    ScoreLearner, ForestLearner, LinearLearner, GaussianProcessLearner, InContextLearner,
    Ensemble, LinearPool, LogarithmicPool,
    MLPVAE, NormalisingFlow, DiffusionModel, Hypersphere, Perceptron, Agreement,
    Rules, RepeatedRows, SpellingRelation,
    LinearRelation, ProductRelation, OrderRelation, DependencyRelation, FormatRelation,
)
# fmt: on

DETECTORS: dict[str, type] = {cls.__name__: cls for cls in _DETECTORS}
"""The detectors that can be saved."""

CLASSES: dict[str, type] = {cls.__name__: cls for cls in (*_DETECTORS, *_PARTS)}
"""Detectors and everything they contain; see `imboost.state` for what a class needs."""
