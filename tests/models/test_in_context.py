"""The network that predicts outliers in context."""

import pytest
import torch

from imboost.models.in_context import SCORES, CellScaling, InContextNetwork

N_CONTEXT = 12


@pytest.fixture
def network():
    torch.manual_seed(0)
    network = InContextNetwork(16, 2, 2, row_width=48, n_row_layers=2, n_row_heads=4)
    for parameter in network.parameters():
        if parameter.ndim == 2:  # some are 0 at first; the weights of the norms stay 1
            torch.nn.init.normal_(parameter, std=0.3)
    return network.requires_grad_(False)


def cell_features(values, n_context):
    return CellScaling.fit(values[:, :n_context]).transform(values)


@pytest.fixture
def table():
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(2, 17, 4, generator=generator)
    values[0, 3, 1] = values[1, 14, 2] = torch.nan
    scores = torch.randn(2, 17, len(SCORES), generator=generator)
    labels = torch.randint(-1, 2, (2, N_CONTEXT), generator=generator)
    return values, scores, labels


def test_the_order_of_context_rows_does_not_matter(network, table):
    values, scores, labels = table
    order = torch.randperm(N_CONTEXT)
    rows = torch.cat([order, torch.arange(N_CONTEXT, 17)])
    moved = network(values[:, rows], scores[:, rows], labels[:, order])
    torch.testing.assert_close(moved, network(values, scores, labels)[:, rows])


def test_the_order_of_columns_does_not_matter(network, table):
    values, scores, labels = table
    moved = network(values[..., [2, 0, 3, 1]], scores, labels)
    torch.testing.assert_close(moved, network(values, scores, labels))


def test_scores_are_marked(network, table):
    values, scores, labels = table
    swapped = network(values, scores[..., [1, 0, 2, 3]], labels)
    assert not torch.allclose(swapped, network(values, scores, labels), atol=1e-3)


def test_rows_outside_the_context_do_not_influence_each_other(network, table):
    values, scores, labels = table
    few = network(values[:, :14], scores[:, :14], labels)
    torch.testing.assert_close(few, network(values, scores, labels)[:, :14])


def test_a_context_can_be_encoded_once_for_rows_that_come_later(network, table):
    values, scores, labels = table
    context = network.encode_context(values[:, :N_CONTEXT], scores[:, :N_CONTEXT], labels)
    later = network.predict(context, values[:, N_CONTEXT:], scores[:, N_CONTEXT:])
    torch.testing.assert_close(later, network(values, scores, labels)[:, N_CONTEXT:])


@pytest.mark.parametrize("factor", [1000, 1e-9, 1e20])
def test_units_do_not_matter(network, table, factor):
    values, scores, labels = table
    scaled = network(factor * (values - 7), factor * scores, labels)
    torch.testing.assert_close(scaled, network(values, scores, labels), atol=1e-3, rtol=1e-3)


def test_every_cell_carries_the_label_of_its_row(network, table):
    features = [cell_features(part[:, :N_CONTEXT], N_CONTEXT) for part in table[:2]]
    labels = torch.zeros(2, N_CONTEXT, dtype=torch.long)
    inliers = network._embed(*features, labels)
    outliers = network._embed(*features, labels + 1)
    assert ((inliers - outliers).abs().amax(-1) > 0.01).all()


@pytest.mark.parametrize("label", [-1, 1])
def test_a_label_changes_predictions_of_other_rows(network, table, label):
    values, scores, labels = table
    before = labels.clone()
    before[:, 0] = 0
    labels[:, 0] = label
    changed = network(values, scores, labels) - network(values, scores, before)
    assert (changed[:, 1:].abs() > 1e-5).all()


@pytest.mark.parametrize("unused", ["label", "row_label"])
def test_cell_layers_and_row_layers_both_use_the_labels(network, table, unused):
    values, scores, labels = table
    getattr(network, unused).weight.zero_()
    changed = network(values, scores, labels.flip(1)) - network(values, scores, labels)
    assert (changed.abs() > 1e-5).all()


def test_every_layer_attends_to_the_context(network, table):
    values, scores, labels = table
    context = network.encode_context(values[:, :N_CONTEXT], scores[:, :N_CONTEXT], labels)
    query = (values[:, N_CONTEXT:], scores[:, N_CONTEXT:])
    expected = network.predict(context, *query)
    pairs = context.cache
    assert len(pairs) == len(network.layers) + len(network.row_layers)
    for number, (key, value) in enumerate(pairs):
        assert key.shape == value.shape
        assert key.shape[3] == N_CONTEXT
        changed = [*pairs[:number], (key, value + 1), *pairs[number + 1 :]]
        predicted = network.predict(context._replace(cache=changed), *query)
        assert ((predicted - expected).abs() > 1e-4).all(), number


@pytest.mark.parametrize("summary", [0, 1, 2])
def test_every_summary_of_a_row_takes_part_in_its_prediction(network, table, summary):
    before = network(*table)
    network.cls_tokens[summary] += 1
    assert ((network(*table) - before).abs() > 1e-4).all()


def test_unlabelled_context_rows_count(network, table):
    values, scores, labels = table
    labels[:, 5] = -1
    kept = [row for row in range(17) if row != 5]
    fewer = network(values[:, kept], scores[:, kept], labels[:, [*range(5), *range(6, 12)]])
    assert not torch.allclose(fewer, network(values, scores, labels)[:, kept], atol=1e-3)


def test_the_layers_of_a_new_network_are_the_identity():
    network = InContextNetwork(16, 2, 2, row_width=48, n_row_layers=2, n_row_heads=4)
    tokens, row_tokens = torch.randn(2, 17, 9, 16), torch.randn(2, 17, 1, 48)
    for layer in network.layers:
        assert torch.equal(layer.columns(tokens), tokens)
        assert torch.equal(layer.rows(tokens, *layer.rows.keys_and_values(tokens)), tokens)
    for layer in network.row_layers:
        assert torch.equal(layer(row_tokens, *layer.keys_and_values(row_tokens)), row_tokens)


def test_ranks_are_those_of_known_context_values():
    values = torch.tensor([1.0, 2.0, 2.0, 4.0, torch.nan, 3.0, 99.0])[None, :, None]
    quantile = cell_features(values, 5)[0, :, 0, 1]
    ranks = torch.special.ndtr(quantile)
    # The value 1 has none below and itself at it: ((0 + 1) / 2 + 0.5) / (4 + 1).
    expected = torch.tensor([0.2, 0.5, 0.5, 0.8, 0.5, 0.7, 0.9])
    torch.testing.assert_close(ranks, expected, atol=1e-5, rtol=0)


def test_periodic_features_are_those_of_the_rank():
    values = torch.tensor([1.0, 2.0, 3.0])[None, :, None]
    sines, cosines = cell_features(values, 3)[0, :, 0, 2:-1].chunk(2, -1)
    ranks = torch.tensor([0.25, 0.5, 0.75])[:, None]
    angles = torch.pi * ranks * torch.tensor([1, 2, 4, 8])
    torch.testing.assert_close(sines, angles.sin(), atol=1e-5, rtol=0)
    torch.testing.assert_close(cosines, angles.cos(), atol=1e-5, rtol=0)


def test_scaled_values_ignore_gaps_and_compress_large_ones():
    values = torch.tensor([0.0, 2.0, torch.nan, 1e6])[None, :, None]
    features = cell_features(values, 3)[0, :, 0]
    scaled, missing = features[:, 0], features[:, -1]
    assert not features[2, :-1].any()  # a gap is nothing but missing
    expected = 2 * torch.log1p(torch.tensor(0.5))  # one standard deviation
    torch.testing.assert_close(scaled[:2], torch.stack([-expected, expected]))
    assert scaled[2] == 0
    assert scaled[3] < 30
    assert missing.tolist() == [0, 0, 1, 0]


def test_constant_and_empty_columns_are_finite():
    values = torch.tensor([[[3.0, torch.nan], [3.0, torch.nan], [5.0, 1.0]]])
    assert cell_features(values, 2).isfinite().all()
