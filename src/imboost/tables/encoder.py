"""The encoder of a table: from parsed columns to the matrix that a detector is trained on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from imboost.tables.column_encoders import (
    CategoryEncoder,
    ColumnEncoder,
    DatetimeEncoder,
    NumberEncoder,
)
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.layout import Feature, Kind, Layout
from imboost.tables.number_parser import NumberParser
from imboost.tables.schema import ParsedColumns, Schema

LARGEST = 1e30  # numbers are clipped to it, so that they are finite in single precision


@dataclass(frozen=True)
class TableEncoder:
    """Encodes parsed tables as matrices, one encoder for each column that is used for scoring.

    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, 2.0, None, 4.0], "colour": ["red", "red", "blue", "red"]})
    >>> schema, parsed = Schema.fit_parse(table)
    >>> encoder = TableEncoder.fit(schema, parsed, scaling="minmax")
    >>> encoder.transform(parsed).shape, [feature.source for feature in encoder.layout.features]
    ((4, 5), ['size', 'size', 'colour'])
    """

    encoders: Mapping[str, ColumnEncoder]

    @classmethod
    def fit(cls, schema: Schema, parsed: ParsedColumns, scaling: str = "robust") -> Self:
        """Fit an encoder to every parsed column of the training table."""
        encoders: dict[str, ColumnEncoder] = {}
        for name, parser in schema.parsers.items():
            if isinstance(parser, NumberParser):
                encoders[name] = NumberEncoder.fit(parsed[name], scaling)
            elif isinstance(parser, DatetimeParser):
                encoders[name] = DatetimeEncoder.fit(parsed[name], scaling)
            else:
                encoders[name] = CategoryEncoder.fit(parsed[name])
        return cls(encoders)

    @property
    def layout(self) -> Layout:
        """The features of the matrix, each with its input column."""
        features, start = [], 0
        for kind in Kind:
            for name, encoder in self.encoders.items():
                for block_kind, width, part in encoder.blocks:
                    if block_kind == kind:
                        features.append(Feature(name, kind, start, start + width, part))
                        start += width
        return Layout(tuple(features))

    def transform(self, parsed: ParsedColumns, n_more: int = 0) -> NDArray[np.float32]:
        """Return the matrix (rows, columns of the layout) of a parsed table.

        `n_more` columns of zeros follow.
        """
        layout = self.layout
        n_rows = len(next(iter(parsed.values())))
        matrix = np.zeros((n_rows, layout.n_columns + n_more), dtype=np.float32)
        features = defaultdict(list)
        for feature in layout.features:
            features[feature.source].append(feature)
        for name, encoder in self.encoders.items():
            blocks = zip(encoder.blocks, encoder.transform(parsed[name]), strict=True)
            ordered = sorted(blocks, key=lambda block: list(Kind).index(block[0][0]))
            for feature, (_, block) in zip(features[name], ordered, strict=True):
                is_number = feature.kind == Kind.NUMERIC
                matrix[:, feature.columns] = (
                    np.clip(block, -LARGEST, LARGEST) if is_number else block
                )
        return matrix
