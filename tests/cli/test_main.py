import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from adbench_folder import write_planted
from imboost.cli import main as cli

HEAVY = ("torch", "sklearn", "numpy", "matplotlib", "pyarrow", "fastapi")


@pytest.fixture
def program(monkeypatch, capsys):
    """Run the program as from a shell; return exit code, output and error lines."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["imboost", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        output = capsys.readouterr()
        return end.value.code, output.out.splitlines(), output.err.splitlines()

    return run


def run_python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
    )


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ((), ("demo", "bench", "--version")),
        ((), ("fit", "score", "explain", "report", "export", "serve")),
        (("fit",), ("DATA", "--out", "--label-column", "--outlier-label", "--role", "--force")),
        (("fit",), ("--detector", "--scaling", "--contamination", "--seed")),
        (("score",), ("MODEL", "DATA", "--out")),
        (("explain",), ("MODEL", "DATA", "--row", "--top", "--out")),
        (("report",), ("MODEL", "DATA", "--out")),
        (("export",), ("MODEL", "--onnx")),
        (("serve",), ("MODEL", "--host", "--port", "--token", "IMBOOST_TOKEN")),
        (("serve",), ("--max-rows", "--max-bytes", "--timeout", "--jobs")),
        (("demo",), ("--out", "--rounds", "--seed")),
        (("bench",), ("run", "report")),
        (("bench", "run"), ("--data", "--out", "--detector", "--query", "--dataset")),
        (("bench", "run"), ("--seed", "--rounds", "--jobs", "--device")),
        (("bench", "run"), ("--suite", "--set", "--large-seed", "--time-limit")),
        (("bench", "run"), ("--budget", "20rows", "--oracle-noise")),
        (("bench", "run"), ("--outlier-share", "--split", "paper-protocol")),
        (("bench", "datasets"), ("--data", "C.1")),
        (("bench", "ablate"), ("lambda1", "--data", "--out", "--dataset", "--seed")),
        (("bench", "report"), ("out", "results.csv", "--against", "--data")),
        (("bench", "trace"), ("dataset", "--data", "--out", "--seed", "--query", "--rounds")),
    ],
    ids=lambda part: " ".join(part),
)
def test_every_command_explains_itself(command, texts):
    result = CliRunner().invoke(cli.app, [*command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for word in texts:
        assert word in result.output


@pytest.mark.parametrize("command", [[], ["fit"], ["serve"], ["bench", "run"]], ids=" ".join)
def test_help_loads_nothing_heavy(command):
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from imboost.cli.main import app\n"
        f"assert CliRunner().invoke(app, {[*command, '--help']}).exit_code == 0\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    result = run_python(code)
    assert (result.stdout.strip(), result.stderr) == ("[]", "")


def test_the_version_is_that_of_the_package(program):
    assert program("--version")[:2] == (0, [version("imboost")])


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
def test_a_wrong_name_ends_with_one_line_and_code_2(program, tmp_path, wrong, message):
    data = write_planted(tmp_path / "data", "ash")
    out = tmp_path / "out"
    code, _, errors = program("bench", "run", "--data", data, "--out", out, *wrong)
    assert code == 2
    assert len(errors) == 1
    assert errors[0].startswith("imboost: ")
    assert message in errors[0]
    assert not out.exists()


def test_an_unknown_ablation_ends_with_one_line_and_code_2(program, tmp_path):
    data = write_planted(tmp_path / "data", "ash")
    folders = ("--data", data, "--out", tmp_path / "out")
    code, _, errors = program("bench", "ablate", "lambda3", *folders)
    assert code == 2
    assert errors[0].startswith("imboost: Unknown ablation 'lambda3'. Did you mean 'lambda")


def test_the_real_program_shows_no_traceback(tmp_path):
    code = "from imboost.cli.main import main; main()"
    folders = ("--data", tmp_path / "absent", "--out", tmp_path / "out")
    result = run_python(code, "bench", "run", *folders)
    assert (result.returncode, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("imboost: No folder ")
    assert "Minqi824/ADBench" in line


def test_a_report_without_results_ends_with_one_line_and_code_2(program, tmp_path):
    code, _, [error] = program("bench", "report", tmp_path)
    assert code == 2
    assert "Run 'imboost bench run' first" in error


def test_another_file_in_the_place_of_the_results_is_left_alone(program, tmp_path):
    data = write_planted(tmp_path / "data", "ash")
    results = tmp_path / "out" / "results.csv"
    results.parent.mkdir()
    results.write_text("name,value\n", encoding="utf-8")
    code, _, [error] = program("bench", "run", "--data", data, "--out", results.parent)
    assert code == 2
    assert "is not a result file of this version" in error
    assert results.read_text(encoding="utf-8") == "name,value\n"


@pytest.mark.parametrize("command", ["demo", "bench run"])
def test_a_file_where_a_folder_is_wanted_ends_with_one_line_before_anything_runs(
    program, tmp_path, command
):
    out = tmp_path / "file"
    out.write_text("", encoding="utf-8")
    options = ["--data", write_planted(tmp_path / "data", "ash")] if "run" in command else []
    code, output, [error] = program(*command.split(), *options, "--out", out)
    assert (code, output) == (2, [])
    assert str(out) in error


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--rounds", "0"),
        ("demo", "--seed", "-1"),
        ("bench", "run"),
        ("bench", "run", "--data", "d", "--out", "o", "--jobs", "0"),
        ("bench", "run", "--data", "d", "--out", "o", "--rounds", "many"),
        ("bench", "report"),
        ("benhc",),
    ],
    ids=" ".join,
)
def test_a_wrong_option_ends_with_code_2(program, arguments):
    code, output, errors = program(*arguments)
    assert (code, output) == (2, [])
    assert errors[0].startswith("Usage: ")


def test_an_interrupted_program_ends_with_code_130(program, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("imboost.datasets.digits.load_demo", interrupt)
    code, output, errors = program("demo", "--out", tmp_path)
    assert (code, output) == (130, [])
    assert not any("Traceback" in line for line in errors)


@pytest.mark.parametrize("command", [(), ("fit",), ("score",), ("bench",), ("bench", "run")])
def test_help_has_a_short_option(command):
    short, long = (CliRunner().invoke(cli.app, [*command, option]) for option in ("-h", "--help"))
    assert (short.exit_code, short.output) == (0, long.output)


@pytest.mark.parametrize("command", ["fit", "label", "score", "explain", "report", "serve"])
def test_help_shows_an_example(command):
    output = CliRunner().invoke(cli.app, [command, "-h"], env={"COLUMNS": "120"}).output
    assert "For example:" in output
    assert output.count(f"imboost {command} ") >= 1
