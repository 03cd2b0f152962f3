"""The loss of a variational autoencoder, as parts of a graph: what `mean_losses` computes."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from imboost.models import MLPVAE
from imboost.models.ensemble_layers import (
    BATCH_NORM_EPS,
    LEAKY_SLOPE,
    LOGVAR_RANGE,
    GaussianHead,
)
from imboost.models.likelihood import LOG_TWO_PI, CellDensity
from imboost.onnx.graph import Wire, where
from imboost.stats.scaling import MinMaxScaling, scale_values


def scaled(scaling: MinMaxScaling, matrix: Wire) -> Wire:
    """Return rows scaled to the unit interval; missing numbers stay so."""
    missing = matrix.apply("IsNaN")
    known: Wire = scale_values(where(missing, 0.0, matrix), scaling.offset, scaling.factor)
    return where(missing, math.nan, known.clip(-scaling.limit, scaling.limit))


def mean_loss(model: MLPVAE, noise: Tensor, matrix: Wire) -> Wire:
    """Return the mean loss of the members for every row of a scaled matrix (rows, features)."""
    draws = _array(noise)  # (members, latent, samples, 1)
    n_members, n_latent, n_samples, _ = draws.shape
    x = matrix.turned()  # (features, rows)
    fill_values = _array(model.fill_values)
    hidden = where(x.apply("IsNaN"), fill_values, x)  # (members, features, rows)
    unseen = np.zeros((fill_values.shape[1], 1), dtype=bool)
    unseen[model.log_density.missing_indicators] = True
    hidden = where(hidden.graph.constant(unseen), fill_values, hidden)
    for layer in model.encoder:
        hidden = _hidden(layer, hidden)
    mean, logvar = _gaussian(model.latent_head, hidden)  # (members, latent, rows)
    spread = (logvar * 0.5).apply("Exp")
    axis = np.array([2])
    z = mean.apply("Unsqueeze", axis) + spread.apply("Unsqueeze", axis) * draws
    known = np.square(draws).sum(axis=1)  # (members, samples, 1)
    prior: Wire = (logvar.sum(1, keep=True) - z.square().sum(1) + known) * 0.5
    hidden = z.reshape(n_members, n_latent, -1)  # all samples of all rows
    for layer in model.decoder:
        hidden = _hidden(layer, hidden)
    shape = (n_members, model.fill_values.shape[1], n_samples, -1)
    said = [half.reshape(*shape) for half in _gaussian(model.output_head, hidden)]
    log_w = prior + _log_density(model.log_density, x, *said)  # (members, samples, rows)
    bound = log_w.apply("ReduceLogSumExp", np.array([1]), keepdims=0) - math.log(n_samples)
    return (-bound).mean(0).rounded()


def _hidden(layer: Any, hidden: Wire) -> Wire:
    scale = 1 / np.sqrt(_array(layer.running_var) + BATCH_NORM_EPS)
    turned = hidden.graph.constant(_array(layer.weight) * scale).apply("MatMul", hidden)
    centred = turned - _array(layer.running_mean) * scale
    return centred.at_least(centred * LEAKY_SLOPE)


def _gaussian(head: GaussianHead, hidden: Wire) -> tuple[Wire, Wire]:
    graph, weight = hidden.graph, _array(head.weight)
    mean, logvar = (
        graph.constant(half).apply("MatMul", hidden) for half in np.split(weight, 2, axis=1)
    )
    return mean, (logvar + _array(head.bias)).clip(*LOGVAR_RANGE)


def _log_density(density: CellDensity, x: Wire, output: Wire, logvar: Wire) -> Wire:
    """Return what `density` says of all cells of a row together, (members, samples, rows)."""
    x = x.apply("Unsqueeze", np.array([1]))  # (features, 1, rows)
    if density._n_numeric is None:
        return _number_density(density, x, output, logvar).sum(1)
    totals, end = [], density._n_numeric
    if end:
        said = (x.slice(0, end), output.slice(0, end, axis=1), logvar.slice(0, end, axis=1))
        totals.append(_number_density(density, *said).sum(1))
    if density._n_indicators:
        start, end = end, end + density._n_indicators
        signs = x.slice(start, end) * 2.0 - 1.0
        gaps = (output.slice(start, end, axis=1) * signs).log_sigmoid()
        totals.append(gaps.sum(1) * (1 / density._n_indicators))
    for width in density._widths:
        start, end = end, end + width
        levels = output.slice(start, end, axis=1).apply("LogSoftmax", axis=1)
        totals.append((levels * x.slice(start, end)).sum(1))
    return reduce(Wire.__add__, totals)


def _number_density(density: CellDensity, x: Wire, output: Wire, logvar: Wire) -> Wire:
    missing = x.apply("IsNaN")
    squared = (where(missing, 0.0, x) - output.apply("Sigmoid")).square() * (-logvar).apply("Exp")
    distance = where(missing, 1.0, squared)
    return (distance + logvar * (2 * density._logvar_weight) + LOG_TWO_PI) * -0.5


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().double().numpy()
