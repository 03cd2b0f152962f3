"""Synthetic tables: structures, outliers, columns, scores, answers."""

import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from imboost.labels import UNLABELLED
from imboost.models.in_context import SCORES
from imboost.pretraining import PretrainingSettings, draw_task
from imboost.pretraining.answers import MIN_ANSWERS, draw_answers
from imboost.pretraining.columns import write_columns
from imboost.pretraining.outliers import (
    MARGINS,
    MAX_SHARE,
    MIN_SHARE,
    OUTLIER_KINDS,
    draw_share,
)
from imboost.pretraining.random_source import RandomSource
from imboost.pretraining.structures import STRUCTURES
from imboost.pretraining.unsupervised_scores import score_tables

PLANTED = sorted(set(OUTLIER_KINDS) - {"rare_class", "rare_region"})


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("n", [4, 90])
def test_a_structure_draws_finite_variables_that_follow_from_the_seed(name, n):
    first, again, other = (
        STRUCTURES[name](RandomSource(seed), 3, 50, n) for seed in [(1, 2), (1, 2), (1, 3)]
    )
    assert first.shape == (3, 50, n)
    assert first.isfinite().all()
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("name", STRUCTURES)
def test_columns_of_a_structure_depend_on_each_other(name):
    variables = STRUCTURES[name](RandomSource((0,)), 20, 400, 10)
    correlation = torch.stack([torch.corrcoef(table.T).abs() for table in variables])
    largest = (correlation - torch.eye(10)).nan_to_num().amax((1, 2))
    assert largest.median() > 0.4  # independent normal columns: 0.15


def test_shares_of_outliers_reach_from_rare_to_frequent():
    share = draw_share(RandomSource((0,)), 2000)
    assert MIN_SHARE <= share.min() < 0.006
    assert 0.38 < share.max() <= MAX_SHARE
    assert 0.03 < share.median() < 0.07


@pytest.mark.parametrize("name", OUTLIER_KINDS)
def test_a_table_has_its_share_of_outliers(name):
    variables = RandomSource((0,)).normal(2, 250, 8)
    share = torch.tensor([[0.005], [0.25]])
    columns, is_outlier = OUTLIER_KINDS[name](RandomSource((1,)), variables, (200, 5), share)
    assert columns.shape == (2, 200, 5)
    assert is_outlier.sum(1).tolist() == [1, 50]


@pytest.mark.parametrize("name", PLANTED)
def test_planted_outliers_change_and_inliers_do_not(name):
    variables = RandomSource((0,)).normal(8, 100, 6)
    share = torch.full((8, 1), 0.1)
    columns, is_outlier = OUTLIER_KINDS[name](RandomSource((1,)), variables, (100, 6), share)
    changed = (columns != variables).any(-1)
    assert not changed[~is_outlier].any()
    assert changed[is_outlier].float().mean() > 0.95  # a row may get its own value back


@pytest.mark.parametrize("name", ["rare_class", "rare_region"])
def test_a_rare_class_follows_from_the_variables_and_may_have_a_margin(name):
    variables = RandomSource((0,)).normal(100, 400, 1)
    share = torch.full((100, 1), 0.1)
    columns, is_outlier = OUTLIER_KINDS[name](RandomSource((1,)), variables, (320, 1), share)
    margins = []
    for all_rows, table, own in zip(variables, columns, is_outlier, strict=True):
        assert torch.isin(table, all_rows).all()
        assert len(table.unique()) == 320
        outliers, inliers = table[own, 0], table[~own, 0]
        lowest, highest = outliers.min(), outliers.max()
        assert not ((inliers > lowest) & (inliers < highest)).any()  # an interval of values
        nearest = (inliers[:, None] - outliers).abs().min()
        left_out = all_rows[~torch.isin(all_rows, table)]
        margins.append(bool(((left_out[:, None] - outliers).abs().min(1).values < nearest).any()))
    assert sum(margins) / len(margins) == pytest.approx(MARGINS, abs=0.2)


def test_labels_tell_most_about_the_outliers_of_most_tables():
    settings = PretrainingSettings(max_context=512, max_columns=12, n_query=256, n_tokens=60_000)
    by_scores, by_labels = [], []
    for number in range(12):
        task = draw_task(settings, RandomSource((5, number)))
        for table in range(len(task.values)):
            values = torch.cat([task.values[table], task.scores[table]], 1).nan_to_num()
            truth, n = task.is_outlier[table], task.n_context
            if truth[:n].sum() < 5 or truth[n:].sum() < 5:
                continue
            forest = RandomForestClassifier(50, min_samples_leaf=2, random_state=0)
            forest.fit(values[:n], truth[:n])
            by_labels.append(roc_auc_score(truth[n:], forest.predict_proba(values[n:])[:, 1]))
            knn = task.scores[table, n:, SCORES.index("knn")]
            by_scores.append(roc_auc_score(truth[n:], knn))
    assert len(by_labels) > 50
    assert 0.6 < sum(by_scores) / len(by_scores) < 0.8
    assert sum(by_labels) / len(by_labels) > 0.8


def test_columns_have_gaps_rounded_numbers_and_categories():
    variables = RandomSource((0,)).normal(40, 200, 20)
    columns = write_columns(RandomSource((1,)), variables)
    has_gaps = columns.isnan().any(1).any(1)
    assert 4 <= has_gaps.sum() <= 20  # of 40, expected 12
    complete = columns[~has_gaps]
    n_distinct = torch.tensor([[len(column.unique()) for column in t.T] for t in complete])
    assert (n_distinct == 2).any()
    assert ((n_distinct > 2) & (n_distinct < 13)).any()
    assert (n_distinct == 200).float().mean() > 0.5
    assert complete.isfinite().all()


@pytest.mark.parametrize(
    ("name", "far"),
    # The forest isolates rows that it was fitted to; principal components fit such rows too well.
    [("isolation_forest", 7), ("knn", 7), ("knn", 110), ("lof", 7), ("lof", 110), ("pca", 110)],
)
def test_a_far_row_has_the_highest_unsupervised_score(name, far):
    source = RandomSource((0,))
    plane = source.normal(4, 120, 2) @ source.normal(4, 2, 5) + 0.05 * source.normal(4, 120, 5)
    plane[:, far] += 12 * source.normal(4, 5)
    scores = score_tables(source, plane, 100)[..., SCORES.index(name)]
    assert scores.isfinite().all()
    assert scores.argmax(1).tolist() == [far] * 4


def test_a_row_is_not_its_own_neighbour():
    line = torch.arange(40.0)[None, :, None].repeat(1, 1, 2)
    together = torch.cat([line, line[:, :1]], 1)  # the query row repeats the first context row
    knn = score_tables(RandomSource((0,)), together, 40)[0, :, SCORES.index("knn")]
    assert knn[40] < knn[0]


def test_query_rows_do_not_change_the_scores_of_others():
    rows = RandomSource((0,)).normal(2, 90, 4)
    few = score_tables(RandomSource((1,)), rows[:, :70], 60)
    many = score_tables(RandomSource((1,)), rows, 60)
    torch.testing.assert_close(few, many[:, :70])


def test_answers_are_true_but_for_few_tables():
    source = RandomSource((0,))
    is_outlier = source.events(0.2, 200, 100)
    labels = draw_answers(source, is_outlier, source.normal(200, 100, len(SCORES)))
    answered = labels != UNLABELLED
    wrong = answered & (labels != is_outlier.long())
    assert answered.sum(1).min() >= MIN_ANSWERS
    assert answered.sum(1).max() <= 60
    assert 0 < wrong.any(1).float().mean() < 0.2
    assert wrong.sum() < 0.03 * answered.sum()


def test_most_answers_are_about_high_scores():
    source = RandomSource((0,))
    is_outlier = source.events(0.1, 200, 100)
    score = source.normal(200, 100, 1)
    labels = draw_answers(source, is_outlier, score.expand(-1, -1, len(SCORES)))
    answered = labels != UNLABELLED
    few = answered & (answered.sum(1, keepdim=True) < 20)
    pairs = zip(score[..., 0], few, strict=True)
    mean = torch.stack([own[mask].mean() for own, mask in pairs if mask.any()])
    assert 0.2 < mean.mean() < 1.5
    assert (mean < 0.3).float().mean() > 0.2  # those with questions at random


def test_a_task_follows_from_its_seed_and_has_the_stated_size():
    settings = PretrainingSettings(n_tokens=20_000, max_context=64, max_columns=6, n_query=16)
    tasks = [draw_task(settings, RandomSource(seed)) for seed in [(0, 5), (0, 5), (0, 6)]]
    for first, again in zip(tasks[0], tasks[1], strict=True):
        torch.testing.assert_close(first, again, equal_nan=True)
    for task in tasks:
        n_tables, n_rows, n_columns = task.values.shape
        assert n_rows == task.n_context + 16
        assert n_tables * n_rows * (n_columns + 5) == pytest.approx(20_000, rel=0.3)
        assert task.is_target[:, task.n_context :].all()
        assert torch.equal(task.is_target[:, : task.n_context], task.labels == UNLABELLED)
