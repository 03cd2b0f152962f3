"""Muon for many small matrices, against that of torch."""

import copy

import pytest
import torch

from imboost_bench.pretraining.muon import BatchedMuon, orthogonalize

# Square, tall and wide; two shapes occur twice, with others between them.
SHAPES = [(16, 16), (48, 16), (16, 48), (16, 16), (8, 24), (48, 16)]
LR, WEIGHT_DECAY = 0.05, 0.1
ROUNDING = 0.08  # of five bfloat16 iterations, by the norm of an update; a wrong momentum: 0.15


def draw_matrices():
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape)) for shape in SHAPES]


def draw_gradients(n_updates):
    torch.manual_seed(1)
    # Scales differ, so that a norm of several matrices together would be noticed.
    scales = 10.0 ** torch.arange(-2, len(SHAPES) - 2)
    return [
        [scale * torch.randn(shape) for scale, shape in zip(scales, SHAPES, strict=True)]
        for _ in range(n_updates)
    ]


def update(optimiser, gradients):
    """Make an update and return the change of each matrix."""
    matrices = optimiser.param_groups[0]["params"]
    before = [matrix.detach().clone() for matrix in matrices]
    for matrix, gradient in zip(matrices, gradients, strict=True):
        matrix.grad = gradient.clone()
    optimiser.step()
    return [matrix.detach() - old for matrix, old in zip(matrices, before, strict=True)]


def test_updates_are_those_of_torch():
    batched, reference = (
        kind(draw_matrices(), lr=LR, weight_decay=WEIGHT_DECAY)
        for kind in (BatchedMuon, torch.optim.Muon)
    )
    for number, gradients in enumerate(draw_gradients(5), start=1):
        for optimiser in (batched, reference):
            optimiser.param_groups[0]["lr"] = LR / number  # as a schedule does
        changes = zip(update(batched, gradients), update(reference, gradients), strict=True)
        for own, expected in changes:
            assert (own - expected).norm() < ROUNDING * expected.norm()


def test_a_matrix_whose_gradient_is_zero_only_decays():
    optimiser = BatchedMuon(draw_matrices(), lr=LR, weight_decay=WEIGHT_DECAY)
    [gradients] = draw_gradients(1)
    gradients[0].zero_()  # changes[3] has the same shape
    changes = update(optimiser, gradients)
    torch.testing.assert_close(changes[0], -LR * WEIGHT_DECAY * draw_matrices()[0].detach())
    assert changes[3].norm() > 0.5 * LR


def test_a_loaded_state_continues_with_the_same_updates():
    *gradients, last = draw_gradients(3)
    optimiser = BatchedMuon(draw_matrices(), lr=LR, weight_decay=WEIGHT_DECAY)
    for own in gradients:
        update(optimiser, own)
    matrices = copy.deepcopy(optimiser.param_groups[0]["params"])
    loaded = BatchedMuon(matrices, lr=1.0, weight_decay=0.0)
    loaded.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    started_anew = BatchedMuon(copy.deepcopy(matrices), lr=LR, weight_decay=WEIGHT_DECAY)
    changes = [update(own, last) for own in (optimiser, loaded, started_anew)]
    for continued, same, without_momentum in zip(*changes, strict=True):
        assert torch.equal(continued, same)
        assert (continued - without_momentum).norm() > ROUNDING * continued.norm()


@pytest.mark.parametrize("shape", [(3, 16, 16), (3, 8, 24), (3, 24, 8)])
def test_an_orthogonalized_matrix_keeps_its_singular_vectors(shape):
    torch.manual_seed(0)
    matrices = torch.randn(shape) * torch.tensor([1e-3, 1.0, 1e3])[:, None, None]
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    values = left.mT @ orthogonalize(matrices).float() @ right.mT
    diagonal = values.diagonal(dim1=1, dim2=2)
    assert ((diagonal > 0.5) & (diagonal < 1.3)).all()
    assert (values - torch.diag_embed(diagonal)).abs().max() < 0.1
