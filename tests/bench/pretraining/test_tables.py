"""Synthetic tables: structures, outliers, columns, scores, answers."""

import itertools

import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from imboost.labels import UNLABELLED
from imboost.models.in_context import SCORES, CellScaling
from imboost_bench.pretraining import PretrainingSettings, draw_tasks, outliers, tasks
from imboost_bench.pretraining.outliers import (
    MARGINS,
    MAX_CONDITIONS,
    MAX_SHARE,
    MIN_SHARE,
    OUTLIER_KINDS,
    OVERLAPS,
    draw_share,
)
from imboost_bench.pretraining.random_source import RandomSource
from imboost_bench.pretraining.structures import STRUCTURES, write_columns
from imboost_bench.pretraining.tasks import MIN_ANSWERS, draw_answers
from imboost_bench.pretraining.unsupervised_scores import score_tables

CLASSES = [name for name, kind in OUTLIER_KINDS.items() if kind.is_class]
PLANTED = sorted(set(OUTLIER_KINDS) - set(CLASSES))


@pytest.fixture
def no_overlap(monkeypatch):
    monkeypatch.setattr(outliers, "OVERLAPS", 0.0)


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
    columns, is_outlier = OUTLIER_KINDS[name].draw(RandomSource((1,)), variables, (200, 5), share)
    assert columns.shape == (2, 200, 5)
    assert is_outlier.sum(1).tolist() == [1, 50]


@pytest.mark.parametrize("name", PLANTED)
def test_planted_outliers_change_and_inliers_do_not(name):
    variables = RandomSource((0,)).normal(8, 100, 6)
    share = torch.full((8, 1), 0.1)
    columns, is_outlier = OUTLIER_KINDS[name].draw(RandomSource((1,)), variables, (100, 6), share)
    changed = (columns != variables).any(-1)
    assert not changed[~is_outlier].any()
    assert changed[is_outlier].float().mean() > 0.95  # a row may get its own value back


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_consists_of_rows_of_the_variables(name):
    variables = RandomSource((0,)).normal(20, 350, 8)
    share = torch.full((20, 1), 0.1)
    columns, is_outlier = OUTLIER_KINDS[name].draw(RandomSource((1,)), variables, (200, 5), share)
    for all_rows, table in zip(variables, columns, strict=True):
        is_same = (table[:, None] == all_rows[:, :5]).all(-1)  # (rows, all rows)
        assert (is_same.sum(1) == 1).all()
        assert is_same.sum(0).max() == 1  # none is shown twice
    # Rows stay in random order, so that context rows and others have the same classes.
    assert is_outlier[:, :100].sum() == pytest.approx(200, abs=50)


@pytest.mark.parametrize("name", ["rare_class", "rare_region"])
def test_the_class_of_a_single_variable_is_an_interval(name, no_overlap):
    variables = RandomSource((0,)).normal(100, 560, 1)
    share = torch.full((100, 1), 0.1)
    columns, is_outlier = OUTLIER_KINDS[name].draw(RandomSource((1,)), variables, (320, 1), share)
    n_mixed = 0
    for table, own in zip(columns, is_outlier, strict=True):
        outlying, inlying = table[own, 0], table[~own, 0]
        n_mixed += bool(((inlying > outlying.min()) & (inlying < outlying.max())).any())
    assert n_mixed <= 2  # where a weight is near 0, the noise that breaks ties exchanges rows


def separate(n_all, n_rows, share, n_tables=200):
    """Return the distances of the rows that a table shows, and which of them are outliers."""
    source = RandomSource((0,))
    distance = source.uniform(n_tables, n_all).argsort(1).float()  # 0 to n_all - 1, shuffled
    shares = torch.full((n_tables, 1), share)
    return outliers._separate(source, distance[..., None], (n_rows, 1), distance, shares)


def test_members_of_a_class_that_are_left_out_are_not_inliers(no_overlap):
    columns, is_outlier = separate(350, 200, 0.1)
    place = columns[..., 0]
    last_outlier = place.masked_fill(~is_outlier, -1).amax(1)
    first_inlier = place.masked_fill(is_outlier, torch.inf).amin(1)
    assert (last_outlier < first_inlier).all()
    n_class = last_outlier + 1  # at least: the last members may be left out
    assert (n_class >= 20).all()
    assert (n_class < 24).float().mean() < 0.25  # classes are larger than their 20 outliers,
    assert (n_class > 100).float().mean() > 0.15  # some of them by far,
    assert n_class.max() <= 20 + 150  # but the rows outside suffice for the inliers
    # Outliers are drawn from all of their class, not from those nearest to its center.
    middle = place.masked_fill(~is_outlier, 0).sum(1) / 20 / last_outlier
    assert middle.mean() == pytest.approx(0.5, abs=0.05)


def test_a_class_without_spare_rows_is_taken_as_a_whole(no_overlap):
    columns, is_outlier = separate(200, 200, 0.1)
    assert torch.equal(columns[..., 0] < 20, is_outlier)


def test_rows_next_to_the_outliers_are_left_out_in_tables_with_a_margin(no_overlap, monkeypatch):
    def gaps():
        columns, is_outlier = separate(350, 200, 0.1)
        first_inlier = columns[..., 0].masked_fill(is_outlier, torch.inf).amin(1)
        return first_inlier - columns[..., 0].masked_fill(~is_outlier, -1).amax(1)

    found = gaps()
    monkeypatch.setattr(outliers, "MARGINS", 0.0)
    without = gaps()  # of the same tables
    assert (without < 20).float().mean() > 0.8
    assert (found >= without).all()
    # A table with a margin of less than a few rows may have none by chance.
    assert (found > without).float().mean() == pytest.approx(MARGINS, abs=0.15)
    assert (found - without).max() > 100


def test_the_row_next_to_a_class_is_shown_as_often_as_others_without_a_margin(
    no_overlap, monkeypatch
):
    monkeypatch.setattr(outliers, "MARGINS", 0.0)
    plain = RandomSource.uniform

    def uniform(self, *shape):  # the size of a class is 20 * 8.5**0.1 = 24.8: it is rows 0 to 23
        drawn = plain(self, *shape)
        return torch.full_like(drawn, 0.1) if shape[1:] == (1,) else drawn

    monkeypatch.setattr(RandomSource, "uniform", uniform)
    columns, is_outlier = separate(350, 200, 0.1)
    assert columns[..., 0][is_outlier].unique().tolist() == list(range(24))
    shown = [float((columns[..., 0] == row).any(1).float().mean()) for row in range(24, 34)]
    assert min(shown) > 0.4  # expected: 180 of 326


def test_classes_overlap_in_some_tables(monkeypatch):
    monkeypatch.setattr(outliers, "MARGINS", 0.0)
    columns, is_outlier = separate(350, 200, 0.1)
    place = columns[..., 0]
    last_outlier = place.masked_fill(~is_outlier, -1).amax(1, keepdim=True)
    n_within = ((place < last_outlier) & ~is_outlier).sum(1)
    assert (n_within > 0).float().mean() == pytest.approx(OVERLAPS, abs=0.1)
    is_near = place.masked_fill(~is_outlier, 0).sum(1) / 20 < 130  # mean of all rows: 175
    assert is_near.float().mean() > 0.95  # an overlap leaves most of the class apart


def distance_to_mean_aucs(kind):
    """Return the AUC of the distance to the mean, as an unsupervised score, of many tables."""
    found = []
    for number in range(8):  # the numbers of centers differ between batches
        variables = RandomSource((0, number)).normal(25, 350, 6)
        share = torch.full((25, 1), 0.05)
        columns, is_outlier = kind.draw(RandomSource((1, number)), variables, (200, 6), share)
        distance = (columns - columns.mean(1, keepdim=True)).norm(dim=-1)
        found += map(roc_auc_score, is_outlier, distance)
    return torch.tensor(found)


@pytest.mark.parametrize(("name", "least"), [("nearest_centers", 0.65), ("rare_region", 0.5)])
def test_outliers_tend_to_be_far_from_the_mean(name, least, monkeypatch):
    preferred = distance_to_mean_aucs(OUTLIER_KINDS[name])
    monkeypatch.setattr(outliers, "MAX_PREFERENCE", 0.0)
    at_random = distance_to_mean_aucs(OUTLIER_KINDS[name])
    assert preferred.mean() > least
    assert preferred.mean() > at_random.mean() + 0.05
    assert (preferred < 0.5).float().mean() > 0.02  # not in all tables


def test_outliers_of_nearest_centers_come_from_the_cluster_of_their_center(no_overlap):
    # Two clusters: whichever has the center of the outliers contributes all of them.
    source = RandomSource((0,))
    cluster = source.events(0.5, 40, 200, 1).float()
    variables = 20 * cluster + source.normal(40, 200, 3)
    share = torch.full((40, 1), 0.1)
    _, is_outlier = OUTLIER_KINDS["nearest_centers"].draw(source, variables, (200, 3), share)
    in_second = (cluster[..., 0] * is_outlier).sum(1) / is_outlier.sum(1)
    assert ((in_second == 0) | (in_second == 1)).float().mean() > 0.8
    assert (in_second == 0).any()
    assert (in_second == 1).any()


def violations(table, n_conditions):
    """Return how far rows (combinations, rows) are from meeting each combination of conditions."""
    rank = table.argsort(0).argsort(0) / len(table)
    low_or_high = torch.cat([rank, 1 - rank], 1)  # (rows, conditions)
    chosen = itertools.combinations(range(low_or_high.shape[1]), n_conditions)
    return torch.stack([low_or_high[:, list(own)].amax(1) for own in chosen])


def is_separating(distance, is_outlier):
    """Return whether a distance (..., rows) is not larger for any outlier than for an inlier."""
    farthest = distance.masked_fill(~is_outlier, -1.0).amax(-1)
    return farthest <= distance.masked_fill(is_outlier, 2.0).amin(-1)


def test_outliers_of_rules_are_the_corners_of_one_or_two_boxes(no_overlap):
    n_conditions, n_boxes, is_high = [], [], []
    for number in range(8):  # the number of rules differs between batches
        variables = RandomSource((0, number)).normal(5, 150, 3)
        share = torch.full((5, 1), 0.2)
        columns, is_outlier = OUTLIER_KINDS["rules"].draw(
            RandomSource((1, number)), variables, (150, 3), share
        )
        for table, own in zip(columns, is_outlier, strict=True):
            corners = [violations(table, n) for n in range(1, MAX_CONDITIONS + 1)]
            one = [n for n, corner in enumerate(corners, 1) if is_separating(corner, own).any()]
            every = torch.cat(corners)
            two = is_separating(torch.minimum(every[:, None], every), own).any()
            assert one or two
            n_boxes.append(1 if one else 2)
            n_conditions += one
            is_high += (is_separating(corners[0], own).nonzero() >= 3).flatten().tolist()
    assert set(n_boxes) == {1, 2}
    assert set(is_high) == {False, True}
    assert set(n_conditions) == set(range(1, MAX_CONDITIONS + 1))


def test_labels_tell_most_about_the_outliers_of_most_tables():
    settings = PretrainingSettings(max_context=512, max_columns=12, n_query=256, n_tokens=60_000)
    by_scores, by_labels = [], []
    for number in range(12):
        task = draw_tasks(settings, RandomSource((5, number)))[0]
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
    assert 0.8 * 100 * tasks.MAX_SHARE < answered.sum(1).max() <= 100 * tasks.MAX_SHARE
    assert 0 < wrong.any(1).float().mean() < 0.2
    assert wrong.sum() < 0.03 * answered.sum()


def test_half_of_the_tables_have_many_answers():
    source = RandomSource((0,))
    is_outlier = source.events(0.2, 400, 200)
    labels = draw_answers(source, is_outlier, source.normal(400, 200, len(SCORES)))
    share = (labels != UNLABELLED).float().mean(1)
    # Log-uniform from 4 or from 20 to 180 of 200 rows: 0.5 + 0.5 * log(180 / 20) / log(180 / 4).
    assert (share >= 0.1).float().mean() == pytest.approx(0.79, abs=0.06)


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


SMALL = PretrainingSettings(n_tokens=20_000, max_context=64, max_columns=6, n_query=16)


def test_tasks_follow_from_their_seed_and_have_the_stated_size():
    first, again, other = (
        draw_tasks(SMALL, RandomSource(seed)) for seed in [(0, 5)] * 2 + [(0, 6)]
    )
    for task, same in zip(first, again, strict=True):
        for part, same_part in zip(task, same, strict=True):
            torch.testing.assert_close(part, same_part, equal_nan=True)
    for task in (*first, *other):
        n_tables, n_rows, n_columns = task.values.shape
        assert n_rows == task.n_context + 16
        n_tokens = n_columns + len(SCORES) + SMALL.row_width // SMALL.width
        assert n_tables * n_rows * n_tokens == pytest.approx(20_000, rel=0.3)
        assert task.is_target[:, task.n_context :].all()
        assert torch.equal(task.is_target[:, : task.n_context], task.labels == UNLABELLED)


def test_each_task_of_a_draw_has_tables_of_its_own_from_every_structure(monkeypatch):
    draw_tables, drawn = tasks._draw_tables, []

    def observed(*arguments):
        drawn.append(draw_tables(*arguments))
        return drawn[-1]

    monkeypatch.setattr(tasks, "_draw_tables", observed)
    found = draw_tasks(SMALL, RandomSource((0,)))
    assert len(found) == tasks.UPDATES_PER_DRAW
    assert len(drawn) == tasks.N_STRUCTURES
    unseen = {
        (structure, number): table
        for structure, (values, _) in enumerate(drawn)
        for number, table in enumerate(values)
    }
    for task in found:
        structures = []
        for values, is_outlier in zip(task.values, task.is_outlier, strict=True):
            [(structure, number)] = [
                key
                for key, table in unseen.items()
                if torch.equal(values.nan_to_num(), table.nan_to_num())
            ]
            assert torch.equal(is_outlier, drawn[structure][1][number])
            del unseen[structure, number]
            structures.append(structure)
        counts = torch.bincount(torch.tensor(structures), minlength=tasks.N_STRUCTURES)
        assert (counts == len(structures) / tasks.N_STRUCTURES).all()
    assert not unseen


def test_scores_and_answers_belong_to_their_tables():
    for task in draw_tasks(SMALL, RandomSource((0,))):
        answered = task.labels != UNLABELLED
        truth = task.is_outlier[:, : task.n_context]
        assert (task.labels == truth)[answered].float().mean() > 0.95
        # Far rows have high scores in their own table, not in those of others.
        scaled = CellScaling.fit(task.values[:, : task.n_context]).transform(task.values)
        far = scaled[..., 0].norm(dim=-1)
        knn = task.scores[..., SCORES.index("knn")]
        pairs = zip(far, knn, strict=True)
        own = torch.stack([torch.corrcoef(torch.stack(pair))[0, 1] for pair in pairs])
        assert own.mean() > 0.5


@pytest.mark.parametrize(("largest", "smallest"), [(64, 32), (640, 128), (2048, 512)])
def test_the_smallest_context_is_a_fifth_of_the_largest(largest, smallest, monkeypatch):
    sizes = []

    def choose(self, items):
        sizes.append(items)
        raise StopIteration

    monkeypatch.setattr(RandomSource, "choice", choose)
    with pytest.raises(StopIteration):
        draw_tasks(PretrainingSettings(max_context=largest), RandomSource((0,)))
    assert min(sizes[0]) == smallest
    assert max(sizes[0]) == largest
