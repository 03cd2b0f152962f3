"""The code and commands of the guides run, in their order."""

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from imboost import persistence
from imboost.serving.app import make_app
from program_running import run_well
from serving_thread import served

DOCS = Path(__file__).parents[1] / "docs"


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
                    app = make_app(persistence.load(words[2]))
                    address = stack.enter_context(served(app))
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


@pytest.mark.parametrize("name", ["first-table.md", "serving.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)]+)\)", (DOCS / name).read_text(encoding="utf-8")):
        assert (DOCS / target).exists(), target
