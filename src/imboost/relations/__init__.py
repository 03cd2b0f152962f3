"""Relations between columns: sums, products, orders, dependencies and formats of codes."""

from imboost.relations.relation import Relation, with_text_columns
from imboost.relations.rules import Rules, discover

__all__ = ["Relation", "Rules", "discover", "with_text_columns"]
