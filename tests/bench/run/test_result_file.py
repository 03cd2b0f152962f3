import math
from dataclasses import replace

import pytest

from imboost_bench.run.protocol import RoundResult, RunSpec
from imboost_bench.run.results import ResultFile, ResultsError


def lines_of(dataset="thyroid", seed=100, rounds=2, **figures):
    """Return the lines of a synthetic successful run."""
    spec = RunSpec("imboost", "mm", dataset, seed, rounds)
    start = RoundResult.of(spec, dataset, round=0, n_train=70, n_features=3, **figures)
    return [
        replace(start, round=number, n_labelled=6 * number, test_auc=0.5 + number / 8, seconds=1.5)
        for number in range(rounds + 1)
    ]


def failure_of(dataset="thyroid", seed=100, rounds=2, reason="DataError: no"):
    spec = RunSpec("imboost", "mm", dataset, seed, rounds)
    return RoundResult.of(spec, dataset, round=-1, status="failed", reason=reason)


def comparable(lines):
    """Return lines in a form in which missing figures are equal."""
    return [repr(line) for line in lines]


@pytest.fixture
def file(tmp_path):
    return ResultFile(tmp_path / "deep" / "results.csv", RoundResult)


def test_what_is_appended_is_read_back(file):
    first, second = lines_of("thyroid"), lines_of("wine", train_auc=0.75, test_ap=0.25)
    file.append(first)
    file.append(second)
    assert comparable(file.read()) == comparable(first + second)


def test_figures_keep_six_digits(file):
    file.append(lines_of(rounds=0, train_ap=0.123456789))
    assert file.read()[0].train_ap == 0.123457


def test_a_missing_figure_is_read_back_as_missing(file):
    file.append([failure_of()])
    assert math.isnan(file.read()[0].test_auc)


def test_the_documented_columns_are_there(file):
    file.append(lines_of())
    documented = (
        "detector,query,dataset,group,seed,round,n_train,n_features,n_labelled,"
        "n_outliers_found,train_auc,train_ap,test_auc,test_ap,seconds,status,reason"
    )
    header = file.path.read_text(encoding="utf-8").splitlines()[0]
    assert set(documented.split(",")) <= set(header.split(","))


def test_finished_runs_are_those_with_their_last_round(file):
    file.append(lines_of("thyroid"))
    file.append(lines_of("wine")[:-1])
    file.append([failure_of("pima")])
    assert file.finished() == {lines_of("thyroid")[0].spec}


def test_no_file_means_nothing_is_finished(file):
    assert file.finished() == set()


def test_a_run_with_more_rounds_is_another_run(file):
    file.append(lines_of(rounds=2))
    assert lines_of(rounds=3)[0].spec not in file.finished()


def test_reading_a_missing_file_says_what_to_run_first(file):
    with pytest.raises(ResultsError, match=r"No results at .*Run 'imboost-bench run' first"):
        file.read()


def test_a_file_that_died_before_its_first_line_can_be_taken_up(file):
    file.path.parent.mkdir()
    file.path.write_bytes(b"detector,que")
    file.repair()
    assert file.finished() == set()
    file.append(lines_of())
    assert comparable(file.read()) == comparable(lines_of())


@pytest.mark.parametrize("content", [b"name,value\na,1\n", b"\xff\xfe\x00binary\n"])
def test_another_kind_of_file_is_refused(file, content):
    file.path.parent.mkdir()
    file.path.write_bytes(content)
    for read in (file.read, file.finished):
        with pytest.raises(ResultsError, match="is not a result file of this version"):
            read()


def test_a_line_cut_short_anywhere_is_dropped_and_its_run_repeated(file):
    file.append(lines_of("thyroid"))
    whole = file.path.read_bytes()
    file.append(lines_of("wine"))
    content = file.path.read_bytes()
    for end in range(len(whole), len(content)):
        file.path.write_bytes(content[:end])
        file.repair()
        assert file.finished() == {lines_of("thyroid")[0].spec}
        file.append(lines_of("wine"))
        assert comparable(file.read()) == comparable(lines_of("thyroid") + lines_of("wine"))


def test_reading_while_a_line_is_being_written_shows_whole_runs_alone(file):
    file.append(lines_of("thyroid"))
    whole = file.path.read_bytes()
    file.append(lines_of("wine"))
    content = file.path.read_bytes()
    for end in range(len(whole), len(content) - 1):
        file.path.write_bytes(content[:end])
        assert comparable(file.read()) == comparable(lines_of("thyroid"))


def test_repair_leaves_a_whole_file_as_it_is(file):
    file.append(lines_of())
    content = file.path.read_bytes()
    file.repair()
    assert file.path.read_bytes() == content


def test_repairing_a_missing_file_makes_none(file):
    file.repair()
    assert not file.path.exists()


def test_a_failed_run_is_a_line_with_its_reason_in_one_line(file):
    file.append([failure_of(reason='ValueError: two\nlines, with "quotes"')])
    assert len(file.path.read_text(encoding="utf-8").splitlines()) == 2
    [line] = file.read()
    assert (line.status, line.round) == ("failed", -1)
    assert line.reason == 'ValueError: two lines, with "quotes"'


def test_a_failure_is_superseded_by_a_later_success(file):
    file.append([failure_of("thyroid")])
    file.append([failure_of("wine")])
    file.append(lines_of("thyroid"))
    assert comparable(file.read()) == comparable([failure_of("wine"), *lines_of("thyroid")])


def test_of_two_failures_the_last_reason_counts(file):
    file.append([failure_of(reason="first")])
    file.append([failure_of(reason="second")])
    assert [line.reason for line in file.read()] == ["second"]


@pytest.mark.parametrize("content", ['{"precious": 1}', "name,value\na,1\nb,2", "x" * 200_000])
def test_a_foreign_file_is_refused_and_left_as_it_was(tmp_path, content):
    path = tmp_path / "results.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ResultsError, match="not a result file"):
        ResultFile(path, RoundResult).repair()
    with pytest.raises(ResultsError, match="not a result file"):
        ResultFile(path, RoundResult).read()
    assert path.read_text(encoding="utf-8") == content


def test_the_whole_specification_is_read_back(file):
    spec = RunSpec(
        "sb-nce",
        "ab",
        "thyroid",
        100,
        rounds=1,
        budget="20rows",
        oracle_noise=0.1,
        settings="learning_rate=1e-05;outside=0.05;query__start=0.2",
    )
    file.append([RoundResult.of(spec, "thyroid", round=number) for number in (0, 1)])
    assert file.finished() == {spec}


def test_runs_that_differ_in_a_setting_are_different_runs(file):
    plain = RunSpec("imboost", "mm", "thyroid", 100, rounds=0)
    changed = replace(plain, settings="inlier_weight=0")
    for spec in (plain, changed):
        file.append([RoundResult.of(spec, "thyroid", round=0)])
    assert file.finished() == {plain, changed}
    assert len(file.read()) == 2


def test_a_share_of_wrong_answers_is_read_back_in_full(file):
    spec = RunSpec("imboost", "mm", "thyroid", 100, rounds=0, oracle_noise=1 / 3)
    file.append([RoundResult.of(spec, "thyroid", round=0)])
    assert file.finished() == {spec}


def test_a_time_limit_is_read_back_in_full(file):
    spec = RunSpec("imboost", "mm", "thyroid", 100)
    skipped = {"round": -1, "status": "skipped", "seconds": 100 / 3}
    file.append([RoundResult.of(spec, "thyroid", **skipped)])
    assert file.finished(100 / 3) == {spec}
    assert file.finished(34.0) == set()
