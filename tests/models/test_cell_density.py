"""The log-density of numeric, missing-indicator and categorical cells."""

import pytest
import torch

from imboost.models.likelihood import CellDensity, gaussian_log_density


@pytest.fixture
def decoded():
    """What a decoder says of three columns: one member, two samples, four rows."""
    generator = torch.Generator().manual_seed(0)
    output, logvar = (torch.randn(1, 3, 2, 4, generator=generator) for _ in range(2))
    return output, logvar.requires_grad_()


def test_a_missing_value_has_the_density_one_standard_deviation_from_the_mean(decoded):
    output, logvar = decoded
    missing = CellDensity()(torch.full((3, 1, 4), torch.nan), output, logvar)
    mean = torch.sigmoid(output)
    torch.testing.assert_close(
        missing, gaussian_log_density(mean + (0.5 * logvar).exp(), mean, logvar)
    )


def test_a_missing_value_has_no_gradient_and_leaves_the_other_cells_unchanged(decoded):
    output, logvar = decoded
    x = torch.rand(3, 1, 4)
    complete = CellDensity()(x, output, logvar)
    x[1, 0, 2] = torch.nan
    density = CellDensity()(x, output, logvar)
    density.sum().backward()
    assert (logvar.grad[0, 1, :, 2] == 0).all()
    assert (logvar.grad[0, 0] != 0).all()
    torch.testing.assert_close(density[0, 0], complete[0, 0])
