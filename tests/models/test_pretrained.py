"""The weights of the in-context network that the package ships."""

import hashlib
from copy import deepcopy

import numpy as np
import pytest
import torch
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score

from imboost.labels import UNLABELLED, has_both_classes
from imboost.models.pretrained import WEIGHTS, load_pretrained
from imboost_bench.pretraining import PretrainingSettings, draw_tasks
from imboost_bench.pretraining.random_source import RandomSource

MAX_BYTES = 10_000_000


def test_the_weights_are_small_and_the_model_card_has_their_hash():
    content = WEIGHTS.read_bytes()
    assert len(content) <= MAX_BYTES
    card = (WEIGHTS.parent / "README.md").read_text()
    assert hashlib.sha256(content).hexdigest() in card


def test_the_pretrained_network_is_shared_and_cannot_be_trained():
    network = load_pretrained()
    assert network is load_pretrained()
    assert not network.training
    assert not any(weight.requires_grad for weight in network.parameters())


def test_loading_does_not_change_the_global_random_state():
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    load_pretrained.__wrapped__()
    assert torch.equal(torch.rand(1), expected)


def test_it_ranks_outliers_of_new_tables_better_than_a_forest_with_the_same_labels():
    settings = PretrainingSettings(max_context=128, max_columns=8, n_query=128, n_tokens=40_000)
    by_network, by_forest = [], []
    for number in range(4):
        for task in draw_tasks(settings, RandomSource((11, number)))[:1]:
            with torch.no_grad():
                log_odds = load_pretrained()(task.values, task.scores, task.labels)
            rows = torch.cat([task.values, task.scores], -1).nan_to_num().numpy()
            for table, own in enumerate(rows):
                labels = task.labels[table].numpy()
                truth = task.is_outlier[table, task.n_context :].numpy()
                if not has_both_classes(labels) or truth.sum() < 3:
                    continue
                known = np.flatnonzero(labels != UNLABELLED)
                forest = ExtraTreesClassifier(30, random_state=0).fit(own[known], labels[known])
                proba = forest.predict_proba(own[task.n_context :])[:, 1]
                by_forest.append(roc_auc_score(truth, proba))
                by_network.append(roc_auc_score(truth, log_odds[table, task.n_context :]))
    assert len(by_network) > 30
    assert np.mean(by_network) > np.mean(by_forest) + 0.02


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_order_of_rows_and_columns_does_not_matter(seed):
    network = deepcopy(load_pretrained()).double()  # single precision adds rounding errors of 1e-4
    generator = torch.Generator().manual_seed(seed)
    values, scores = (
        torch.randn(1, 40, n, generator=generator, dtype=torch.float64) for n in (5, 4)
    )
    labels = torch.randint(-1, 2, (1, 30), generator=generator)
    rows, columns = torch.randperm(30, generator=generator), torch.tensor([3, 1, 4, 0, 2])
    order = torch.cat([rows, torch.arange(30, 40)])
    moved = network(values[:, order][..., columns], scores[:, order], labels[:, rows])
    expected = network(values, scores, labels)[:, order]
    torch.testing.assert_close(moved, expected, atol=1e-9, rtol=1e-9)
