"""From the columns of a table to the detector's matrix, as parts of a graph."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imboost.errors import SettingError
from imboost.onnx.graph import Graph, Wire, concat, where
from imboost.tables.column_encoders import (
    CYCLES,
    CategoryEncoder,
    ColumnEncoder,
    DatetimeEncoder,
    NumberEncoder,
)
from imboost.tables.encoder import TableEncoder
from imboost.tables.layout import Kind
from imboost.tables.number_parser import MAX_NUMBER
from imboost.tables.number_scaling import MAX_SCALED, TAIL_SLOPE, NumberScaling


def table_graph(encoder: TableEncoder) -> tuple[Graph, Wire]:
    """Return a graph from one input for each column to the matrix (rows, columns)."""
    for name in encoder.encoders:
        if name in ("", "score"):
            raise SettingError(f"A column called '{name}' cannot be exported; rename it.")
    texts = [name for name, one in encoder.encoders.items() if isinstance(one, CategoryEncoder)]
    graph = Graph(
        numbers={name: ["rows"] for name in encoder.encoders if name not in texts},
        texts={name: ["rows"] for name in texts},
    )
    parts: dict[Kind, list[Wire]] = {kind: [] for kind in Kind}
    for name, one in encoder.encoders.items():
        made = _encode(one, graph.input(name))
        for (kind, _, _), part in zip(one.blocks, made, strict=True):
            parts[kind].append(part)
    return graph, concat([part for kind in Kind for part in parts[kind]], axis=1)


def _encode(encoder: ColumnEncoder, cells: Wire) -> list[Wire]:
    """Return what `encoder.encode` does: one matrix (rows, columns) for every block."""
    if isinstance(encoder, CategoryEncoder):
        return [_levels(encoder, cells)]
    if not isinstance(encoder, NumberEncoder | DatetimeEncoder):
        raise SettingError(f"{type(encoder).__name__} cannot be exported.")
    missing = cells.apply("IsNaN")
    known = where(missing, encoder.scaling.center, cells).clip(-MAX_NUMBER, MAX_NUMBER)
    parts = [_scaled(encoder.scaling, known)]
    for name in encoder.cycles if isinstance(encoder, DatetimeEncoder) else ():
        turns = known / CYCLES[name]
        angle = (turns - turns.apply("Floor")) * (2 * math.pi)
        parts += [angle.apply("Sin"), angle.apply("Cos")]
    columns = [where(missing, math.nan, part) for part in parts]
    if encoder.has_missing:
        columns.append(missing.to_doubles())
    return [column.reshape(-1, 1) for column in columns]


def _levels(encoder: CategoryEncoder, cells: Wire) -> Wire:
    n_own = len(encoder.categories)
    columns = encoder.column_of_category
    found = cells.apply(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=list(columns),
        values_int64s=list(columns.values()),
        default_int64=n_own,  # the rarest band
    )
    return cells.graph.constant(np.eye(n_own + encoder.n_frequency_bins)).take(found)


def _scaled(scaling: NumberScaling, values: Wire) -> Wire:
    """Return what `scaling.apply` does, where no value is missing."""
    ratio = (values * 0.5 - scaling.center / 2) / scaling.scale * 2.0
    ratio = ratio.clip(-MAX_SCALED, MAX_SCALED)
    if scaling.quantiles is not None:
        beyond = ratio - ratio.clip(-1.0, 1.0)
        return _interpolated(values, scaling.quantiles) + (beyond * TAIL_SLOPE).asinh()
    return (
        (ratio / scaling.asinh_scale).asinh() * scaling.asinh_scale
        if scaling.asinh_scale
        else ratio
    )


def _interpolated(values: Wire, quantiles: NDArray[np.float64]) -> Wire:
    """Return what `numpy.interp` makes of values, from quantiles to -1 ... 1."""
    shares = np.linspace(-1.0, 1.0, len(quantiles))
    steps = np.diff(quantiles)
    slopes = np.divide(np.diff(shares), steps, out=np.zeros_like(steps), where=steps > 0)
    inside = values.clip(float(quantiles[0]), float(quantiles[-1]))
    reached = (inside.reshape(-1, 1) >= quantiles).to_whole().sum(axis=1)
    place = reached.apply("Sub", np.array(1)).apply("Min", np.array(len(slopes) - 1))
    graph = values.graph
    start, share, slope = (
        graph.constant(known).take(place) for known in (quantiles[:-1], shares[:-1], slopes)
    )
    between = slope * (inside - start) + share
    # Several quantiles may be equal: those at an end are reached at once.
    return where(values < quantiles[0], -1.0, where(values >= quantiles[-1], 1.0, between))
