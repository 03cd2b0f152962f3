"""The classes of saved objects, by name. No other class is ever looked up for a name in a file."""

from __future__ import annotations

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
from imboost.models.hypersphere import Hypersphere
from imboost.stats.folds import RowFolds
from imboost.stats.ranks import RankTransform
from imboost.stats.scaling import MinMaxScaling, StandardScaling
from imboost.tables.category_parser import BooleanParser, CategoryParser
from imboost.tables.column_encoders import CategoryEncoder, DatetimeEncoder, NumberEncoder
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.encoder import TableEncoder
from imboost.tables.layout import Feature, Kind, Layout
from imboost.tables.number_parser import NumberParser
from imboost.tables.number_scaling import NumberScaling
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema, Schema

DETECTORS: dict[str, type] = {
    "TableDetector": TableDetector,
    "Stack": Stack,
    "Trees": Trees,
    "IMBoost": IMBoost,
    "ALTBI": ALTBI,
    "ODIM": ODIM,
    "DeepSVDD": DeepSVDD,
    "DeepSAD": DeepSAD,
}
"""The detectors that can be saved."""

CLASSES: dict[str, type] = {
    **DETECTORS,
    "Schema": Schema,
    "ColumnSchema": ColumnSchema,
    "Role": Role,
    "TableEncoder": TableEncoder,
    "NumberParser": NumberParser,
    "DatetimeParser": DatetimeParser,
    "CategoryParser": CategoryParser,
    "BooleanParser": BooleanParser,
    "NumberEncoder": NumberEncoder,
    "DatetimeEncoder": DatetimeEncoder,
    "CategoryEncoder": CategoryEncoder,
    "NumberScaling": NumberScaling,
    "Layout": Layout,
    "Feature": Feature,
    "Kind": Kind,
    "ReferenceNumbers": ReferenceNumbers,
    "ReferenceCategories": ReferenceCategories,
    "ReferenceTimes": ReferenceTimes,
    "MinMaxScaling": MinMaxScaling,
    "StandardScaling": StandardScaling,
    "Surroundings": Surroundings,
    "NeighbourDistances": NeighbourDistances,
    "Rotation": Rotation,
    "Rest": Rest,
    "RowFolds": RowFolds,
    "RankTransform": RankTransform,
    "CellSurprise": CellSurprise,
    "ForestExpectations": ForestExpectations,
    "ComponentExpectations": ComponentExpectations,
    "ExpectedNumber": ExpectedNumber,
    "ExpectedLevel": ExpectedLevel,
    "ViewExpert": ViewExpert,
    "ViewOpinion": ViewOpinion,
    "ForestExpert": ForestExpert,
    "LinearExpert": LinearExpert,
    "ResidualProcess": ResidualProcess,
    "MLPVAE": MLPVAE,
    "NormalisingFlow": NormalisingFlow,
    "Hypersphere": Hypersphere,
    "Calibration": Calibration,
}
"""Detectors and everything they contain; see `imboost.state` for what a class needs."""
