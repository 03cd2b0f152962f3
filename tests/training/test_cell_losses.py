"""What cells add to losses, and what is expected of them."""

import math

import numpy as np
import pytest
import torch

from imboost.models import MLPVAE
from imboost.stats.scaling import MinMaxScaling
from imboost.tables.layout import Feature, Kind, Layout
from imboost.training.scaled_rows import ScaledRows
from imboost.training.scoring import cell_losses, conditional_means, mean_losses

LAYOUT = Layout(
    (
        Feature("a", Kind.NUMERIC, 0, 1),
        Feature("b", Kind.NUMERIC, 1, 2),
        Feature("a", Kind.MISSING_INDICATOR, 2, 3),
        Feature("c", Kind.CATEGORICAL, 3, 6),
    )
)
N_SAMPLES = 5


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = np.zeros((40, 6))
    table[:, :2] = rng.random((40, 2))
    table[:4, 0], table[:4, 2] = np.nan, 1.0
    table[np.arange(40), rng.integers(3, 6, 40)] = 1.0
    return table


@pytest.fixture
def model():
    generator = torch.Generator().manual_seed(0)
    made = MLPVAE(6, generator, n_members=3, layout=LAYOUT).double()
    with torch.no_grad():  # else weights of samples are nearly equal
        made.output_head.weight.mul_(5.0)
    return made


@pytest.fixture
def noise(model):
    return model.draw_noise(1, torch.Generator().manual_seed(1), N_SAMPLES)


def as_rows(table):
    scaling = MinMaxScaling(offset=np.zeros(6), factor=np.ones(6))
    return ScaledRows(table, scaling, torch.device("cpu"))


def test_cells_and_code_sum_to_the_loss(model, noise, table):
    x = torch.from_numpy(table.T.copy())
    with torch.no_grad():
        cells, code, _ = model.weight_parts(x, x, noise.double(), batch_statistics=False)
    log_w = cells.sum(1) + code
    weight = torch.softmax(log_w, dim=1)
    of_code = (weight * (math.log(N_SAMPLES) + weight.log() - code)).sum(1).mean(0)
    total = cell_losses(model, as_rows(table), noise).sum(axis=1) + of_code.numpy()
    losses = mean_losses(model, as_rows(table), noise, torch.float64).numpy()
    np.testing.assert_allclose(total, losses, rtol=1e-5)


def test_a_category_contributes_in_its_own_column(model, noise, table):
    losses = cell_losses(model, as_rows(table), noise)
    assert (losses[:, 0] != 0).all()
    assert (losses[:, 2] > 0).all()
    np.testing.assert_array_equal(losses[:, 3:] > 0, table[:, 3:] == 1)


def test_the_conditional_mean_of_a_cell_does_not_depend_on_the_cell(model, noise, table):
    owners = LAYOUT.source_of_columns()
    before = conditional_means(model, as_rows(table), noise, owners)
    changed = table.copy()
    changed[:, 0], changed[:, 2] = 9.0, 0.0
    after = conditional_means(model, as_rows(changed), noise, owners)
    np.testing.assert_allclose(after[:, owners == 0], before[:, owners == 0])
    assert not np.allclose(after[:, owners == 1], before[:, owners == 1])


def test_conditional_means_are_scaled_numbers_and_probabilities(model, noise, table):
    expected = conditional_means(model, as_rows(table), noise, LAYOUT.source_of_columns())
    assert ((expected > 0) & (expected < 1)).all()
    np.testing.assert_allclose(expected[:, 3:].sum(axis=1), 1.0)
