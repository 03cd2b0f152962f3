import csv

import pytest
from typer.testing import CliRunner

from adbench_folder import write_planted
from imboost_bench.cli.main import app
from page_reading import outside_addresses


def invoke(*arguments):
    return CliRunner().invoke(app, [str(part) for part in arguments], catch_exceptions=False)


def run_benchmark(data, out):
    options = ("--seed", 1, "--rounds", 1, "--device", "cpu")
    return invoke("run", "--data", data, "--out", out, *options)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    """Two good sets and a damaged one: their folder, the results' folder, the program's result."""
    data = write_planted(tmp_path_factory.mktemp("adbench"), "ash", "birch", "cedar")
    (data / "Classical" / "3_cedar.npz").write_bytes(b"damaged")
    out = tmp_path_factory.mktemp("bench") / "out"
    return data, out, run_benchmark(data, out)


@pytest.fixture(scope="module")
def report(benchmark):
    _, out, _ = benchmark
    return out, invoke("report", out)


def test_a_benchmark_writes_a_line_per_run_and_round_and_one_for_a_failure(benchmark):
    _, out, result = benchmark
    assert result.exit_code == 1
    with (out / "results.csv").open(encoding="utf-8", newline="") as file:
        lines = [(row["dataset"], row["round"], row["status"]) for row in csv.DictReader(file)]
    assert sorted(lines) == [
        ("ash", "0", "ok"),
        ("ash", "1", "ok"),
        ("birch", "0", "ok"),
        ("birch", "1", "ok"),
        ("cedar", "-1", "failed"),
    ]


def test_a_benchmark_reports_what_was_done_and_what_to_do_next(benchmark):
    _, out, result = benchmark
    assert "2 runs done, 0 were done before, 1 failed" in result.stderr
    assert f"Next: imboost-bench report {out}" in result.stderr


def test_a_failure_is_reported_as_it_comes(benchmark):
    _, _, result = benchmark
    text = " ".join(result.stderr.split())
    assert "failed: stack/spread on cedar, seed 1, rounds 1: DataError" in text


def test_finished_runs_are_not_repeated(benchmark, tmp_path):
    data, out, _ = benchmark
    again = tmp_path / "again"
    again.mkdir()
    content = (out / "results.csv").read_bytes()
    (again / "results.csv").write_bytes(content)
    result = run_benchmark(data, again)
    assert "0 runs done, 2 were done before, 1 failed" in result.stderr
    assert (again / "results.csv").read_bytes().startswith(content)


def test_a_report_follows_from_the_results(report):
    out, result = report
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"wrote {out / name}" for name in ("report.html", "report.md", "tables")
    ]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert outside_addresses(page) == []
    for name in ("ash", "birch", "cedar"):
        assert name in page
    assert "2 finished runs · 1 failed" in page


def test_the_report_in_markdown_shows_the_figures_of_the_results(report):
    out, _ = report
    text = (out / "report.md").read_text(encoding="utf-8")
    with (out / "results.csv").open(encoding="utf-8", newline="") as file:
        final = {row["dataset"]: row for row in csv.DictReader(file) if row["round"] == "1"}
    for name in ("ash", "birch"):
        assert f"| {name} | {float(final[name]['test_auc']):.3f} |" in text


def results_of(out):
    with (out / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def one_set(tmp_path):
    return write_planted(tmp_path / "data", "ash"), tmp_path / "out"


def test_a_budget_and_a_wrong_oracle_are_written_down(one_set):
    data, out = one_set
    options = ("--seed", 1, "--rounds", 1, "--budget", "9rows", "--oracle-noise", 0.5)
    result = invoke("run", "--data", data, "--out", out, "--device", "cpu", *options)
    assert result.exit_code == 0
    last = results_of(out)[-1]
    assert (last["budget"], last["oracle_noise"], last["n_labelled"]) == ("9rows", "0.5", "9")


def test_a_suite_runs_all_of_its_methods(one_set):
    data, out = one_set
    options = ("--seed", 1, "--rounds", 1, "--suite", "peers")
    assert invoke("run", "--data", data, "--out", out, *options).exit_code == 0
    done = {(row["detector"], row["query"]) for row in results_of(out)}
    assert done == {
        ("aad", "rd"),
        ("aad", "hc"),
        ("trees", "mix"),
    }


def test_a_skipped_run_is_reported_and_is_no_failure(one_set):
    data, out = one_set
    options = ("--seed", 1, "--rounds", 1, "--time-limit", 0.01)
    result = invoke("run", "--data", data, "--out", out, *options)
    assert result.exit_code == 0
    assert "skipped: stack/spread on ash" in result.stderr
    assert "0 failed, 1 skipped" in result.stderr


def test_an_ablation_runs_every_value_and_its_table_follows(one_set):
    data, out = one_set
    result = invoke("ablate", "alpha", "--data", data, "--out", out, "--seed", 1)
    assert result.exit_code == 0
    finals = [row for row in results_of(out) if row["round"] == "5"]
    assert [row["settings"] for row in finals] == [
        "query__alpha=0.3",
        "",
        "query__alpha=0.5",
        "query__alpha=0.6",
        "query__alpha=0.7",
    ]
    assert invoke("report", out).exit_code == 0
    assert (out / "tables" / "c11_alpha.csv").is_file()


def test_the_papers_splits_and_shares_are_written_down(one_set):
    data, out = one_set
    options = ("--seed", 1, "--rounds", 0, "--outlier-share", "0.050", "--split", "random")
    assert invoke("run", "--data", data, "--out", out, *options).exit_code == 0
    [line] = results_of(out)
    assert (line["outlier_share"], line["split"], line["status"]) == ("0.05", "random", "ok")
    assert line["n_train"] == "52"  # 72 inliers and 3 outliers, of which 30% are test rows


def test_an_option_has_precedence_over_the_suite(one_set, monkeypatch):
    data, out = one_set
    plans = []
    monkeypatch.setattr("imboost_bench.cli.run.run_benchmark", lambda plan, _: plans.append(plan))
    for options in ((), ("--split", "stratified")):
        invoke("run", "--data", data, "--out", out, "--suite", "paper-protocol", *options)
    rows = [{(spec.outlier_share, spec.split) for spec in plan.specs} for plan in plans]
    assert rows == [{("paper", "random")}, {("paper", "stratified")}]
