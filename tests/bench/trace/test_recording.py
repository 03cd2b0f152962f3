from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from imboost import IMBoost
from imboost.datasets import planted_outliers
from imboost.labels import INLIER, OUTLIER
from imboost.models import MLPVAE
from imboost.models.bounds import iwae
from imboost.session import Oracle, Session, run_rounds
from imboost.stats.scaling import MinMaxScaling
from imboost.training.scaled_rows import ScaledRows
from imboost_bench.run.protocol import RunSpec, run
from imboost_bench.trace.recording import (
    GRADIENT_ROWS,
    MAX_MEASURED_ROWS,
    VARIANTS,
    PhaseKind,
    TracedIMBoost,
    count_updates,
    largest_gradient,
    losses_and_gradient,
    sample_of_kind,
    trace,
)

QUICK = {"plain_epochs": 2, "trimmed_epochs": 4, "round_epochs": 2, "batch_size": 32}
N_ROUNDS = 2
N_UPDATES = (2 + 4 + N_ROUNDS * 2) * 5


def run_session(detector, data):
    """Run rounds on a detector's copy and return that copy."""
    session = Session(detector, data.X, random_state=3)
    if isinstance(session.detector, TracedIMBoost):
        session.detector.set_true_labels(data.y)
    for _ in run_rounds(session, Oracle(data.y), N_ROUNDS):
        pass
    return session.detector


@pytest.fixture(scope="module")
def data():
    return planted_outliers(300, 5, seed=1)


@pytest.fixture(scope="module")
def traced(data):
    return run_session(TracedIMBoost(random_state=7, **QUICK), data)


@pytest.fixture(scope="module")
def updates(traced):
    return [SimpleNamespace(**update) for update in traced.updates]


def test_tracing_changes_no_bit_of_the_scores(data, traced):
    plain = run_session(IMBoost(random_state=7, **QUICK), data)
    assert np.array_equal(plain.decision_scores_, traced.decision_scores_)
    assert np.array_equal(plain.query_scores_, traced.query_scores_)


def test_every_update_is_recorded_with_its_place_in_training(traced, updates):
    assert [update.update for update in updates] == list(range(1, N_UPDATES + 1))
    assert count_updates(traced, N_ROUNDS) == N_UPDATES
    places = [(update.phase, update.round, update.epoch) for update in updates[::10]]
    assert places == [
        (PhaseKind.PLAIN, 0, 0),
        (PhaseKind.TRIMMED, 0, 2),
        (PhaseKind.TRIMMED, 0, 4),
        (PhaseKind.POLARIZATION, 1, 6),
        (PhaseKind.POLARIZATION, 2, 8),
    ]


def test_answers_are_counted_from_the_first_round_on(updates):
    n_answered = [update.answered_inliers + update.answered_outliers for update in updates]
    assert set(n_answered[:30]) == {0}
    assert set(n_answered[30:40]) == {6}
    assert set(n_answered[40:]) == {12}


def kept(update):
    return update.kept_inliers + update.kept_outliers


def test_a_plain_update_keeps_its_whole_batch_and_a_trimmed_one_a_share(updates):
    for update in updates:
        assert update.kept_outliers <= update.batch_outliers <= update.batch_size
        assert update.kept_inliers <= update.batch_size - update.batch_outliers
    assert all(kept(update) == update.batch_size == 32 for update in updates[:10])
    for update in updates[10:30]:
        assert kept(update) == np.ceil(0.92 * update.batch_size)


def test_kept_rows_are_those_whose_loss_was_not_above_the_threshold(data):
    """Ask the trimmed risk itself: only rows inside it get a gradient."""
    inside = []

    class Probed(TracedIMBoost):
        def _trim(self, losses, threshold):
            leaf = losses.detach().clone().requires_grad_()
            IMBoost._trim(self, leaf, threshold).sum().backward()
            inside.append(leaf.grad[0].numpy() != 0)
            return super()._trim(losses, threshold)

        def _measure(self, step):
            update = super()._measure(step)
            if update["phase"] is not PhaseKind.PLAIN:
                is_outlier = data.y[step.rows] == OUTLIER
                kept = inside[-1]
                assert update["kept_outliers"] == (kept & is_outlier).sum()
                assert update["kept_inliers"] == (kept & ~is_outlier).sum()
            return update

    run_session(Probed(random_state=7, **QUICK), data)
    assert len(inside) == N_UPDATES - 10


def test_the_last_risks_are_the_mean_and_median_scores_of_each_kind(data, traced, updates):
    last = updates[-1]
    scores = traced.decision_scores_
    inliers, outliers = scores[data.y == INLIER], scores[data.y == OUTLIER]
    assert last.inlier_risk == pytest.approx(inliers.mean(), rel=1e-4)
    assert last.outlier_risk == pytest.approx(outliers.mean(), rel=1e-4)
    assert last.inlier_median == pytest.approx(np.median(inliers), rel=1e-4)
    assert last.outlier_median == pytest.approx(np.median(outliers), rel=1e-4)


def test_extremes_losses_and_outliers_below_are_those_of_the_scores(data, traced, updates):
    last, scores = updates[-1], traced.decision_scores_
    inliers, outliers = scores[data.y == INLIER], scores[data.y == OUTLIER]
    assert last.loss_low == pytest.approx(scores.min(), rel=1e-4)
    assert last.loss_high == pytest.approx(scores.max(), rel=1e-4)
    assert last.outliers_below == pytest.approx((outliers <= inliers.mean()).mean())
    assert traced.inlier_losses[-1].tolist() == pytest.approx(inliers.tolist(), rel=1e-3)
    assert len(traced.inlier_losses) == len(updates)


def test_steps_are_measured_from_the_second_update_on(updates):
    first, *others = updates
    assert np.isnan([first.step_norm, first.inlier_gradient_change]).all()
    assert all(update.step_norm > 0 for update in others)
    for update in others:  # the triangle inequality
        before = updates[update.update - 2]
        norms = update.outlier_gradient_norm, before.outlier_gradient_norm
        assert abs(norms[0] - norms[1]) <= update.outlier_gradient_change * (1 + 1e-9)
        assert update.outlier_gradient_change <= sum(norms) * (1 + 1e-9)


def test_a_risks_gradient_is_no_longer_than_the_largest_of_a_row(updates):
    for update in updates:
        assert update.outlier_gradient_norm <= update.largest_gradient * (1 + 1e-5)


def test_variants_share_the_warm_up_and_differ_in_the_decay_of_the_weights(data):
    spec = RunSpec("imboost", "mm", "planted", 5, rounds=1)
    constant, decaying = (trace(replace(spec, settings=own), data) for own in VARIANTS.values())
    assert (constant.detector.decay_weights, decaying.detector.decay_weights) == (False, True)
    assert constant.updates[:250].equals(decaying.updates[:250])
    assert not constant.updates[-1:].equals(decaying.updates[-1:])


def test_a_traced_run_is_the_benchmarks_own(data):
    spec = RunSpec("imboost", "mm", "planted", 5, rounds=1)
    seen = []
    result = trace(spec, data, on_update=lambda: seen.append(1))
    *_, line = run(spec, data)
    last = result.updates.iloc[-1]
    assert len(seen) == len(result.updates) == count_updates(IMBoost(), 1) == 300
    assert result.n_inliers + result.n_outliers == line.n_train
    assert last.answered_outliers == line.n_outliers_found
    assert last.answered_inliers + last.answered_outliers == line.n_labelled


@pytest.fixture
def small():
    """A model that has seen a batch, two tables and a draw of noise."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 3))
    scaling = MinMaxScaling.fit(table)
    model = MLPVAE(3, torch.Generator().manual_seed(0))
    rows = ScaledRows(table, scaling, torch.device("cpu"))
    noise = model.draw_noise(1, torch.Generator().manual_seed(1), 4)
    model.log_weights(rows.take(np.arange(40)), noise, batch_statistics=True)
    parts = [
        ScaledRows(table[:30], scaling, rows.device),
        ScaledRows(table[30:], scaling, rows.device),
    ]
    return model, parts, noise


def test_gradients_agree_with_a_direct_computation(small, monkeypatch):
    model, parts, noise = small
    direct = []
    for part in parts:
        x = part.take(np.arange(len(part)))
        risk = -iwae(model.log_weights(x, noise, batch_statistics=False)).mean()
        slopes = torch.autograd.grad(risk, list(model.parameters()))
        direct.append((risk.item(), [slope.double() for slope in slopes]))
    monkeypatch.setattr("imboost.training.scaled_rows.CHUNK_CELLS", 4 * 32 * 7)  # several chunks
    (inliers, first), (outliers, second) = (
        losses_and_gradient(model, part, noise) for part in parts
    )
    assert inliers.mean() == pytest.approx(direct[0][0], rel=1e-5)
    assert outliers.mean() == pytest.approx(direct[1][0], rel=1e-5)
    product = sum((a * b).sum() for a, b in zip(direct[0][1], direct[1][1], strict=True))
    norm = sum(slope.square().sum() for slope in direct[0][1]).sqrt()
    assert float(first @ second) == pytest.approx(float(product), rel=1e-4)
    assert float(first.norm()) == pytest.approx(float(norm), rel=1e-4)


def test_the_largest_gradient_of_a_row_is_that_of_the_rows_one_by_one(small):
    model, parts, noise = small
    norms, losses = [], []
    for row in range(len(parts[0])):
        x = parts[0].take(np.array([row]))
        loss = -iwae(model.log_weights(x, noise, batch_statistics=False)).sum()
        slopes = torch.autograd.grad(loss, list(model.parameters()))
        norms.append(float(torch.cat([slope.flatten() for slope in slopes]).norm()))
        losses.append(loss.item())
    highest = np.argsort(losses)[-GRADIENT_ROWS:]
    found = largest_gradient(model, parts[0], np.array(losses), noise)
    assert found == pytest.approx(max(norms[row] for row in highest), rel=1e-4)


def test_looking_leaves_nothing_behind_in_the_model(small):
    model, parts, noise = small
    before = {name: value.clone() for name, value in model.state_dict().items()}
    losses_and_gradient(model, parts[0], noise)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_of_a_large_kind_a_fixed_sample_is_followed():
    y = np.zeros(3 * MAX_MEASURED_ROWS, dtype=np.int8)
    y[::1000] = OUTLIER
    assert np.array_equal(sample_of_kind(y, OUTLIER, np.random.default_rng(0)), np.flatnonzero(y))
    rows = sample_of_kind(y, INLIER, np.random.default_rng(0))
    assert len(np.unique(rows)) == MAX_MEASURED_ROWS
    assert not y[rows].any()
    assert np.array_equal(rows, sample_of_kind(y, INLIER, np.random.default_rng(0)))
