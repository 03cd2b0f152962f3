import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from imboost.cli import main as cli
from imboost.detectors.registry import DETECTORS, known_detectors

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
        ((), ("demo", "--version")),
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
    ],
    ids=lambda part: " ".join(part),
)
def test_every_command_explains_itself(command, texts):
    result = CliRunner().invoke(cli.app, [*command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for word in texts:
        assert word in result.output


@pytest.mark.parametrize("command", [[], ["fit"], ["serve"]], ids=" ".join)
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


def test_a_file_where_a_folder_is_wanted_ends_with_one_line_before_anything_runs(
    program, tmp_path
):
    out = tmp_path / "file"
    out.write_text("", encoding="utf-8")
    code, output, [error] = program("demo", "--out", out)
    assert (code, output) == (2, [])
    assert str(out) in error


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--rounds", "0"),
        ("demo", "--seed", "-1"),
        ("scoer",),
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

    monkeypatch.setattr("imboost.datasets.dataset.load_demo", interrupt)
    code, output, errors = program("demo", "--out", tmp_path)
    assert (code, output) == (130, [])
    assert not any("Traceback" in line for line in errors)


@pytest.mark.parametrize("command", [(), ("fit",), ("score",)])
def test_help_has_a_short_option(command):
    short, long = (CliRunner().invoke(cli.app, [*command, option]) for option in ("-h", "--help"))
    assert (short.exit_code, short.output) == (0, long.output)


@pytest.mark.parametrize("command", ["fit", "label", "score", "explain", "report", "serve"])
def test_help_shows_an_example(command):
    output = CliRunner().invoke(cli.app, [command, "-h"], env={"COLUMNS": "120"}).output
    assert "For example:" in output
    assert output.count(f"imboost {command} ") >= 1


def test_fit_names_the_detectors_of_the_package_alone():
    output = CliRunner().invoke(cli.app, ["fit", "-h"], env={"COLUMNS": "300"}).output
    [line] = [line for line in output.splitlines() if "--detector" in line]
    assert set(re.findall(r"\w+", line)) & set(known_detectors()) == set(DETECTORS)
