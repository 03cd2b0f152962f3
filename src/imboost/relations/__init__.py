"""Relations between columns: sums, products, orders, dependencies and formats of codes."""

from imboost.relations.code_format import FormatRelation
from imboost.relations.dependency import DependencyRelation
from imboost.relations.linear import LinearRelation
from imboost.relations.order import OrderRelation
from imboost.relations.product import ProductRelation
from imboost.relations.relation import Relation, with_text_columns
from imboost.relations.repeated_rows import RepeatedRows
from imboost.relations.rules import Rules, discover
from imboost.relations.spelling import SpellingRelation

__all__ = [
    "DependencyRelation",
    "FormatRelation",
    "LinearRelation",
    "OrderRelation",
    "ProductRelation",
    "Relation",
    "RepeatedRows",
    "Rules",
    "SpellingRelation",
    "discover",
    "with_text_columns",
]
