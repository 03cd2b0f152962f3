"""Updates on a GPU: replayed CUDA graphs train what kernel by kernel updates train."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from imboost.detectors import make_detector
from imboost.labels import INLIER, OUTLIER, unlabelled
from imboost.models import MLPVAE
from imboost.stats.scaling import MinMaxScaling
from imboost.training.loop import Schedule, make_optimiser, train
from imboost.training.polarization import polarization_steps
from imboost.training.scaled_rows import ScaledRows
from imboost.training.warmup import warmup_steps

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

SHORT = Schedule(plain_epochs=3, trimmed_epochs=5)
QUICK = {"plain_epochs": 2, "trimmed_epochs": 4, "round_epochs": 3}
ONE_CLASS = {"pretrain_epochs": 3, "train_epochs": 3, "round_epochs": 2}


def planted_table(n_rows=500):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, 6))
    table[:20] += 4
    return table


def planted_labels(n_rows=500):
    labels = unlabelled(n_rows)
    labels[:10], labels[100:140] = OUTLIER, INLIER
    return labels


def trained_weights(*, can_capture):
    """Return the weights after a short warm-up and polarization on the GPU."""
    table, device = planted_table(), torch.device("cuda")
    rows = ScaledRows(table, MinMaxScaling.fit(table), device)
    model = MLPVAE(6, torch.Generator().manual_seed(0), n_members=2).to(device)
    optimiser = make_optimiser(model, 1e-3, 0.0)
    rng, generator = np.random.default_rng(1), torch.Generator().manual_seed(2)
    last = SHORT.warmup_epochs
    for steps in (
        warmup_steps(SHORT, len(table), rng, trim_quantile=0.92),
        polarization_steps(SHORT, range(last, last + 4), rows, planted_labels(), rng),
    ):
        own = (step._replace(can_capture=can_capture) for step in steps)
        for _ in train(model, optimiser, rows, own, generator):
            pass
    return {name: value.cpu() for name, value in model.state_dict().items()}


def test_replayed_updates_train_the_same_weights():
    replayed, launched = trained_weights(can_capture=True), trained_weights(can_capture=False)
    initial = MLPVAE(6, torch.Generator().manual_seed(0), n_members=2).state_dict()
    for name, value in launched.items():
        # Adam makes full steps for tiny gradients too.
        moved = (value - initial[name]).norm()
        assert (replayed[name] - value).norm() <= 0.03 * moved, name


def test_threads_capture_and_replay_at_the_same_time():
    def weights_on_own_stream(_):
        with torch.cuda.stream(torch.cuda.Stream()):
            return trained_weights(can_capture=True)

    expected = trained_weights(can_capture=True)
    with ThreadPoolExecutor(6) as pool:
        for weights in pool.map(weights_on_own_stream, range(12)):
            for name, value in expected.items():
                torch.testing.assert_close(weights[name], value, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("imboost", QUICK),
        ("imboost", {**QUICK, "backbone": "flow"}),
        ("imboost", {**QUICK, "backbone": "diffusion"}),
        ("imboost", {**QUICK, "decay_weights": True, "n_members": 3}),
        ("altbi", {"plain_epochs": 2, "trimmed_epochs": 4, "averaged_epochs": 2}),
        ("odim", {"max_updates": 60}),
        ("oc-nce", ONE_CLASS),
        ("sb-nce", {**ONE_CLASS, "boundary_epochs": 1}),
        ("dsad", ONE_CLASS),
    ],
)
def test_scores_are_those_of_the_cpu(name, settings):
    table, labels = planted_table(), planted_labels()
    scores = {}
    for device in ("cpu", "cuda"):
        detector = make_detector(name, random_state=1, device=device, **settings)
        scores[device] = detector.fit(table).refine(table, labels).decision_scores_
    assert np.corrcoef(scores["cpu"], scores["cuda"])[0, 1] > 0.99


def test_missing_values_train_on_a_gpu():
    table = planted_table()
    table[np.random.default_rng(1).random(table.shape) < 0.1] = np.nan
    scores = [
        make_detector("imboost", random_state=1, device=device, **QUICK)
        .fit(table)
        .decision_scores_
        for device in ("cpu", "cuda")
    ]
    assert np.corrcoef(*scores)[0, 1] > 0.99
