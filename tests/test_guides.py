"""The code and commands of the guides run, in their order."""

import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import pytest
import typer

from imboost import persistence
from imboost.cli.main import app
from imboost.labelling.terminal import HELP
from imboost.scoring import candidate_pool, ray_engine, row_selection
from imboost.serving.app import make_app
from imboost.tables import files
from imboost_bench.cli import main as bench
from program_running import orders, run_program, run_well, write
from serving_thread import served

DOCS = Path(__file__).parents[1] / "docs"
PROGRAMS = {"imboost": app, "imboost-bench": bench.app}


def blocks(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(r"```(python|sh)\n(.*?)```", text, flags=re.DOTALL)


def follow(name):
    """Run the blocks of a guide; return the names its code defines."""
    names, address = {}, "http://127.0.0.1:8000"
    with ExitStack() as stack:
        for language, block in blocks(name):
            if language == "python":
                code = block.replace("http://127.0.0.1:8000", address)
                exec(compile(code, name, "exec"), names)
                continue
            for words in map(str.split, block.splitlines()):
                if words[:2] == ["imboost", "serve"]:
                    service = make_app(persistence.load(words[2]))
                    address = stack.enter_context(served(service))
                elif words[0] == "imboost":
                    run_well(*words[1:])
    return names


def test_the_first_table_guide_can_be_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = follow("first-table.md")
    written = {path.name for path in tmp_path.iterdir()}
    assert {"orders.scores.csv", "orders.report.html", "page.html", "mine.model"} <= written
    assert "checked.model" in written
    assert len(names["scores"]) == 600
    assert "order_id identifier" in capsys.readouterr().out


def test_the_service_guide_can_be_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = follow("serving.md")
    assert names["prediction"]["identifiers"] == {"order_id": "A1"}
    assert "weight 90 above all reference rows" in capsys.readouterr().out


def test_the_python_of_the_labelling_guide_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, block in blocks("labelling.md"):
        if language == "python":
            exec(compile(block, "labelling.md", "exec"), names)
    names["session"].close()
    printed = capsys.readouterr().out
    assert "1 round, 4 answers" in printed
    assert "3 open questions" in printed


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(orders(300), tmp_path / "orders.csv")
    shell = "".join(block for language, block in blocks("../README.md") if language == "sh")
    commands = [words for words in map(str.split, shell.splitlines()) if words[0] == "imboost"]
    ran = set()
    for _, command, *rest in commands:
        if command not in ("label", "serve"):  # until they are stopped; the tests of guides do
            arguments = rest[: rest.index("#")]
            assert run_program(command, *arguments).code in (
                (0, 1) if command == "check" else (0,)
            )
            ran.add(command)
    assert ran == {"check", "fit", "score", "explain", "report"}


@pytest.mark.parametrize(
    "name", ["../README.md", *sorted(path.name for path in DOCS.glob("*.md"))]
)
def test_every_command_of_a_document_is_understood(name):
    shell = "".join(block for language, block in blocks(name) if language == "sh")
    pattern = r"(?m)(?:^|[ |])(imboost|imboost-bench) ([a-z]+)\b([^|\n]*)"
    for program, command, arguments in re.findall(pattern, re.sub(r"\s#.*", "", shell)):
        parser = typer.main.get_command(PROGRAMS[program]).commands[command]
        assert parser.make_context(command, shlex.split(arguments)).params


def test_the_labelling_guide_lists_all_keys():
    text = (DOCS / "labelling.md").read_text(encoding="utf-8")
    table = text.split("## Keyboard shortcuts")[1].split("## ")[0]
    listed = set(re.findall(r"`(.)`", table))
    assert listed == {key for keys, _ in HELP for key in keys.split()} - {"q"}


def test_the_guide_to_large_tables_can_be_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(row_selection, "MAX_ROWS", 300)
    monkeypatch.setattr(candidate_pool, "MAX_SESSION_ROWS", 500)
    monkeypatch.setattr(candidate_pool, "N_HIGHEST", 50)
    monkeypatch.setattr(candidate_pool, "N_DOUBTFUL", 50)
    # Ray is started by the tests of its engine alone.
    monkeypatch.setattr(ray_engine.RayScores, "run", lambda scores: None)
    write(orders(600), tmp_path / "orders.parquet")
    names = {}
    for language, block in blocks("scale.md"):
        if language == "python":
            exec(compile(block, "scale.md", "exec"), names)
            continue
        for words in map(str.split, block.splitlines()):
            if words[:2] in (["imboost", "fit"], ["imboost", "score"]) and "ray" not in words:
                run_well(*words[1:])
    assert names["session"].outcome().n_rows == 600
    assert len(names["session"].labels) < 600
    names["session"].close()
    assert (tmp_path / "orders.scores.parquet").exists()


def test_the_guide_to_large_tables_states_the_limits_of_the_code():
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    limits = (
        row_selection.MAX_ROWS,
        row_selection.MAX_CELLS,
        candidate_pool.MAX_SESSION_ROWS,
        candidate_pool.MAX_SESSION_CELLS,
        files.PART_ROWS,
    )
    for limit in limits:
        assert f"{limit:,}" in text
    assert f"the {candidate_pool.N_HIGHEST:,}" in " ".join(text.split())
    [version] = re.findall(r'rayVersion: "(.*)"', text)
    assert f"ray=={version}\n" in (DOCS.parent / "constraints.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["first-table.md", "labelling.md", "scale.md", "serving.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)]+)\)", (DOCS / name).read_text(encoding="utf-8")):
        assert (DOCS / target).exists(), target
