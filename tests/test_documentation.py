"""The documents are true: their code runs, and they name everything there is."""

import ast
import re
from pathlib import Path

import pytest

from imboost import IMBoost, Stack
from imboost.benchmark.suites import SUITES
from imboost.checks import check_query_strategy
from imboost.detectors import DETECTORS
from imboost.models import BACKBONES
from imboost.query import STRATEGIES

ROOT = Path(__file__).parent.parent


def code_blocks(name, language="python"):
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_no_placeholder_is_left(name):
    assert "@@" not in (ROOT / name).read_text(encoding="utf-8")


def test_the_readmes_code_runs(capsys):
    blocks = code_blocks("README.md")
    assert len(blocks) >= 2
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # one after the other, as read
    printed = capsys.readouterr().out
    found = int(re.match(r"(\d+) of 80 strays", printed).group(1))
    assert found >= 40


@pytest.mark.parametrize(
    ("name", "prints"),
    [
        ("docs/explanations.md", "weight is 197.8"),
        ("docs/decisions.md", "rows are called outliers"),
    ],
)
def test_the_code_of_a_guide_runs(name, prints, capsys):
    names = {}
    for block in code_blocks(name):
        exec(compile(block, name, "exec"), names)
    assert prints in capsys.readouterr().out


def test_the_contributors_example_keeps_the_contract():
    names = {}
    for block in code_blocks("CONTRIBUTING.md"):
        exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    check_query_strategy(names["TypicalRows"])


@pytest.mark.parametrize("name", [*DETECTORS, *STRATEGIES, *BACKBONES])
def test_every_registered_name_is_in_the_reference(name):
    assert f"`{name}`" in (ROOT / "docs/reference.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("detector", [IMBoost, Stack])
def test_every_setting_is_in_the_reference_with_its_default(detector):
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    text = text.split(f"Settings of `{detector.__name__}`")[1].split("\n\n")[1]
    rows = re.findall(r"(?m)^\| ((?:`\w+`(?:, )?)+) \| ([^|]+) \|", text)
    written = {
        name: default.strip().strip("`")
        for names, defaults in rows
        for name, default in zip(
            re.findall(r"\w+", names),
            defaults.split(",") if "," in names else [defaults],
            strict=True,
        )
    }
    found = {setting: ast.literal_eval(default) for setting, default in written.items()}
    assert found == detector().get_params()


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_is_in_the_reference(name):
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    [row] = re.findall(r"(?m)^\| `--suite` \|.*$", text)
    assert f"`{name}`" in row


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "docs/reference.md", "docs/results.md"]
)
def test_links_between_documents_lead_somewhere(name):
    path = ROOT / name
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_commands_in_the_documents_exist():
    from typer.testing import CliRunner

    from imboost.apps.cli import app

    documents = ("README.md", "docs/reference.md", "docs/results.md")
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in documents)
    commands = set(re.findall(r"(?m)(?:^|`)imboost ((?:bench )?[a-z]+)", text))
    assert {"demo", "bench run", "bench ablate", "bench report", "bench trace"} <= commands
    for command in commands:
        result = CliRunner().invoke(app, [*command.split(), "--help"])
        assert result.exit_code == 0, command
