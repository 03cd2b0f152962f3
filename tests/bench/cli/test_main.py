import subprocess
import sys

import pytest
from typer.testing import CliRunner

from adbench_folder import write_planted
from imboost_bench.cli import main as cli
from program_running import run_program


def refusal(*arguments):
    """Run the program and assert that it fails with one line; return the line."""
    ended = run_program(*arguments, main=cli.main)
    assert (ended.code, len(ended.errors)) == (2, 1)
    assert ended.errors[0].startswith("imboost-bench: ")
    return ended.errors[0]


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ([], ("run", "ablate", "report", "cells", "datasets", "decisions", "trace")),
        (["run"], ("--data", "--out", "--detector", "--query", "--dataset")),
        (["run"], ("--seed", "--rounds", "--jobs", "--device")),
        (["run"], ("--suite", "--set", "--large-seed", "--time-limit")),
        (["run"], ("--budget", "20rows", "--oracle-noise")),
        (["run"], ("--outlier-share", "--split", "paper-protocol")),
        (["datasets"], ("--data", "C.1")),
        (["ablate"], ("lambda1", "--data", "--out", "--dataset", "--seed")),
        (["report"], ("out", "results.csv", "--against", "--data")),
        (["trace"], ("dataset", "--data", "--out", "--seed", "--query", "--rounds")),
    ],
    ids=lambda part: " ".join(part),
)
def test_every_command_explains_itself(command, texts):
    result = CliRunner().invoke(cli.app, [*command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for word in texts:
        assert word in result.output


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from imboost_bench.cli.main import app\n"
        "assert CliRunner().invoke(app, ['run', '--help']).exit_code == 0\n"
        "heavy = ('torch', 'sklearn', 'numpy', 'matplotlib', 'pyarrow', 'pandas')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--detector", "imbost"), "Unknown detector 'imbost'. Did you mean 'imboost'?"),
        (("--query", "mmm"), "Unknown query strategy 'mmm'. Did you mean 'mm'?"),
        (("--dataset", "ahs"), "Unknown data set 'ahs'. Did you mean 'ash'?"),
        (("--device", "abacus"), "device must be 'auto', 'cpu' or"),
        (("--suite", "papers"), "Unknown suite 'papers'. Did you mean 'paper'?"),
        (("--suite", "paper", "--query", "rd"), "--suite names its own methods"),
        (("--budget", "many"), "budget must be 'paper', a fraction of the rows such as 0.002"),
        (("--set", "inlier_weight"), "A setting is written name=value"),
        (("--set", "n_treees=9"), "Did you mean 'n_trees'?"),
        (("--set", "query__max_candidates=0"), "max_candidates must be at least 1"),
        (("--time-limit", "0"), "time_limit must be above 0"),
        (("--split", "randon"), "Unknown split 'randon'. Did you mean 'random'?"),
        (("--outlier-share", "half"), "outlier_share must be 'all', 'paper' or a fraction"),
    ],
)
def test_a_wrong_name_ends_with_one_line_and_code_2(tmp_path, wrong, message):
    data = write_planted(tmp_path / "data", "ash")
    out = tmp_path / "out"
    line = refusal("run", "--data", data, "--out", out, *wrong)
    assert message in line
    assert not out.exists()


def test_an_unknown_ablation_ends_with_one_line_and_code_2(tmp_path):
    data = write_planted(tmp_path / "data", "ash")
    folders = ("--data", data, "--out", tmp_path / "out")
    line = refusal("ablate", "lambda3", *folders)
    assert line.startswith("imboost-bench: Unknown ablation 'lambda3'. Did you mean 'lambda")


def test_a_folder_without_data_ends_with_one_line_that_says_where_they_are(tmp_path):
    line = refusal("run", "--data", tmp_path / "absent", "--out", tmp_path / "out")
    assert line.startswith("imboost-bench: No folder ")
    assert "Minqi824/ADBench" in line


def test_a_file_where_a_folder_is_wanted_ends_with_one_line_before_anything_runs(tmp_path):
    out = tmp_path / "file"
    out.write_text("", encoding="utf-8")
    data = write_planted(tmp_path / "data", "ash")
    assert str(out) in refusal("run", "--data", data, "--out", out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "--data", "d", "--out", "o", "--jobs", "0"),
        ("run", "--data", "d", "--out", "o", "--rounds", "many"),
        ("report",),
        ("rnu",),
    ],
    ids=" ".join,
)
def test_a_wrong_option_ends_with_code_2(arguments):
    ended = run_program(*arguments, main=cli.main)
    assert (ended.code, ended.lines) == (2, [])
    assert ended.errors[0].startswith("Usage: ")


def test_a_report_without_results_ends_with_one_line_and_code_2(tmp_path):
    line = refusal("report", tmp_path)
    assert "Run 'imboost-bench run' first" in line


def test_another_file_in_the_place_of_the_results_is_left_alone(tmp_path):
    data = write_planted(tmp_path / "data", "ash")
    results = tmp_path / "out" / "results.csv"
    results.parent.mkdir()
    results.write_text("name,value\n", encoding="utf-8")
    line = refusal("run", "--data", data, "--out", results.parent)
    assert "is not a result file of this version" in line
    assert results.read_text(encoding="utf-8") == "name,value\n"
