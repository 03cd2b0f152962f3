"""The documents are true: their code runs, and they name everything there is."""

import ast
import re
from inspect import signature
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from imboost import Session, TableDetector
from imboost.checks import check_query_strategy
from imboost.cli import main as product
from imboost.labels import TEXT_LABELS, UNLABELLED
from imboost.models import BACKBONES
from imboost.tables.cells import MISSING_STRINGS
from imboost_bench.baselines import DETECTORS, STRATEGIES
from imboost_bench.cli import main as bench
from imboost_bench.run.suites import SUITES

ROOT = Path(__file__).parent.parent
PROGRAMS = {"imboost": product.app, "imboost-bench": bench.app}


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
    found = int(re.match(r"(\d+) of 80 outliers", printed).group(1))
    assert found >= 40


@pytest.mark.parametrize(
    ("name", "prints"),
    [
        ("docs/explanations.md", "height is 97.79"),
        ("docs/decisions.md", " predicted outliers"),
        ("docs/reference.md", "{'detector__n_trees': "),
    ],
)
def test_the_code_of_a_document_runs(name, prints, capsys):
    names = {}
    for block in code_blocks(name):
        exec(compile(block, name, "exec"), names)
    assert prints in capsys.readouterr().out


def test_the_contributors_example_keeps_the_contract():
    names = {}
    for block in code_blocks("CONTRIBUTING.md"):
        exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    check_query_strategy(names["MedianScores"])


@pytest.mark.parametrize("walk", ["One row from file to score", "One key press to the next card"])
def test_every_hop_of_a_walk_through_the_code_exists(walk):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    hops = re.findall(r"(?m)^\d+\. (`.*?\)):", text.split(f"## {walk}")[1].split("\n## ")[0])
    assert len(hops) >= 10
    assert len(set(hops)) == len(hops)
    for hop in hops:
        name, *files = re.findall(r"`([^`]+)`", hop)
        for file in files:
            code = (ROOT / "src/imboost" / file).read_text(encoding="utf-8")
            assert all(re.search(rf"(def|class) {part}\b", code) for part in name.split("."))


def test_every_file_named_to_contributors_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", text):
        folders = (".", "src", "src/imboost", "src/imboost/detectors", "bench/src/imboost_bench")
        known = [ROOT / folder / name for folder in folders]
        assert any(path.exists() for path in known), name


@pytest.mark.parametrize("name", [*DETECTORS, *STRATEGIES, *BACKBONES])
def test_every_registered_name_is_in_the_reference(name):
    assert f"`{name}`" in (ROOT / "docs/reference.md").read_text(encoding="utf-8")


def settings_in_reference(heading):
    """Return the settings in the table after a heading, with their defaults."""
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    table = text.split(heading)[1].split("\n\n")[1]
    rows = re.findall(r"(?m)^\| ((?:`\w+`(?:, )?)+) \| ([^|]+) \|", table)
    return {
        name: ast.literal_eval(default.strip().strip("`"))
        for names, defaults in rows
        for name, default in zip(
            re.findall(r"\w+", names),
            defaults.split(",") if "," in names else [defaults],
            strict=True,
        )
    }


@pytest.mark.parametrize("kind", sorted({type(make()) for make in DETECTORS.values()}, key=repr))
def test_every_setting_of_a_detector_is_in_the_reference_with_its_default(kind):
    common = settings_in_reference("These settings are common to all detectors:")
    own = settings_in_reference(f"Settings of `{kind.__name__}`")
    assert common | own == kind().get_params()


def test_every_setting_of_a_table_detector_is_in_the_reference_with_its_default():
    settings = TableDetector().get_params(deep=False)
    assert settings_in_reference("Settings of `TableDetector`") == settings


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_setting_of_a_query_strategy_is_in_the_reference(name):
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"(?m)^\| `{name}` \| `[A-Z]\w+` \|.*$", text.split("## Query")[1])
    assert all(f"`{setting}`" in row for setting in signature(STRATEGIES[name]).parameters)


@pytest.mark.parametrize(
    "setting",
    [one for one in signature(Session).parameters.values() if one.kind == one.KEYWORD_ONLY],
    ids=lambda setting: setting.name,
)
def test_every_setting_of_a_session_is_in_the_reference_with_its_default(setting):
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    part = text.split("Settings of `Session`")[1].split("\n\n")[1]
    [default] = re.findall(rf"(?m)^\| `{setting.name}` \| ([^|]+) \|", part)
    assert ast.literal_eval(default.strip("`")) == setting.default


def test_strings_for_missing_values_are_in_the_guide():
    text = (ROOT / "docs/first-table.md").read_text(encoding="utf-8")
    [line] = re.findall(r"(?m)^\| strings for a missing value: an empty cell, (.*?) \|", text)
    assert set(re.findall(r"`([^`]+)`", line)) == {text for text in MISSING_STRINGS if text}


def test_spellings_of_unlabelled_rows_are_in_the_guide():
    text = " ".join((ROOT / "docs/first-table.md").read_text(encoding="utf-8").split())
    [part] = re.findall(r"all others then mean inlier but (.*?), which are", text)
    written = set(re.split(r", | and ", part))
    expected = {text for text, label in TEXT_LABELS.items() if label == UNLABELLED}
    assert written == expected - {"", "unlabeled"}


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


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_command_and_option_is_in_the_reference(program):
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    commands = typer.main.get_command(PROGRAMS[program]).commands
    assert {"fit", "serve", "decisions", "cells"} & commands.keys()
    for name, command in commands.items():
        [usage] = re.findall(rf"(?m)^\| `{program} {name}([ `].*?) \| ", text)
        if "[...]" not in usage:
            options = {one.opts[0] for one in command.params if one.opts}
            wanted = {option for option in options if option.startswith("--")}
            assert set(re.findall(r"--[a-z-]+", usage)) == wanted, name


def test_commands_in_the_documents_exist():
    documents = ("README.md", "docs/reference.md", "docs/results.md")
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in documents)
    commands = set(re.findall(r"(?m)(?:^|`)(imboost|imboost-bench) ([a-z]+)", text))
    assert {("imboost", "demo"), ("imboost-bench", "run"), ("imboost-bench", "trace")} <= commands
    for program, command in commands:
        result = CliRunner().invoke(PROGRAMS[program], [command, "--help"])
        assert result.exit_code == 0, command
