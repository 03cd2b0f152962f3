"""The classes of saved objects, by name. No other class is ever looked up for a name in a file."""

from __future__ import annotations

_NAMES = {
    "imboost.decide.calibration": "Calibration",
    "imboost.decide.decision": "Decision",
    "imboost.detectors.deep.altbi": "ALTBI",
    "imboost.detectors.deep.imboost": "IMBoost",
    "imboost.detectors.deep.odim": "ODIM",
    "imboost.detectors.distilled": "Distilled TeacherAgreement",
    "imboost.detectors.shallow": "NeighborDistances Trees",
    "imboost.detectors.stack.base_learners": (
        "ForestLearner GaussianProcessLearner LinearLearner ScoreLearner ScoreModel"
    ),
    "imboost.detectors.stack.cell_model": "CellModel",
    "imboost.detectors.stack.conditionals": (
        "CategoryForest ForestConditional NumberForest PCAConditional"
    ),
    "imboost.detectors.stack.detector": "Stack",
    "imboost.detectors.stack.ensemble": "Ensemble",
    "imboost.detectors.stack.features": "FeatureExtractor",
    "imboost.detectors.stack.forests": "Forest",
    "imboost.detectors.stack.in_context": "InContextLearner",
    "imboost.detectors.stack.isolation": "IsolationScores",
    "imboost.detectors.stack.neighbors": "NeighborScores",
    "imboost.detectors.stack.pca": "CrossFittedPCA PrincipalComponents",
    "imboost.detectors.stack.pooling": "LinearPool LogarithmicPool",
    "imboost.detectors.stack.training_rows": "TrainingRows",
    "imboost.detectors.stack.unsupervised": "UnsupervisedScores",
    "imboost.detectors.table_detector": "TableDetector",
    "imboost.explain.reference_values": "ReferenceCategories ReferenceNumbers",
    "imboost.models.diffusion": "DiffusionModel",
    "imboost.models.flow": "NormalisingFlow",
    "imboost.models.mlp_vae": "MLPVAE",
    "imboost.relations.dependency": "DependencyRelation",
    "imboost.relations.linear": "LinearRelation",
    "imboost.relations.order": "OrderRelation",
    "imboost.relations.product": "ProductRelation",
    "imboost.relations.repeated_rows": "RepeatedRows",
    "imboost.relations.rules": "Rules",
    "imboost.relations.texts": "FormatRelation SpellingRelation",
    "imboost.stats.ranks": "NormalScores RankTransform",
    "imboost.stats.scaling": "MinMaxScaling StandardScaling",
    "imboost.stats.tails": "TailScore",
    "imboost.tables.datetime_parser": "DatetimeParser",
    "imboost.tables.encoder": "CategoryEncoder DatetimeEncoder NumberEncoder TableEncoder",
    "imboost.tables.layout": "Feature Kind Layout",
    "imboost.tables.number_scaling": "NumberScaling",
    "imboost.tables.parsers": "BooleanParser CategoryParser NumberParser",
    "imboost.tables.roles": "Role",
    "imboost.tables.schema": "ColumnSchema Schema",
    "imboost.training.distillation": "Perceptron",
}

CLASSES = {name: module for module, names in _NAMES.items() for name in names.split()}
"""The modules of all detectors that can be saved, and of everything that they contain.

A module is imported when an object of the class is loaded; see `imboost.state` for what a class
needs.
"""
