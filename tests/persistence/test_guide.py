"""The code in the guide to model folders runs."""

import re
from pathlib import Path

import imboost.persistence
from imboost.persistence.model_folder import ARRAYS, CHECKSUMS, STRUCTURE

GUIDE = Path(__file__).parents[2] / "docs" / "model-folder.md"


def test_the_guides_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 2
    names = {}
    for block in blocks:
        exec(compile(block, GUIDE.name, "exec"), names)


def test_the_guide_names_every_file_and_function():
    text = GUIDE.read_text(encoding="utf-8")
    for name in (ARRAYS, CHECKSUMS, STRUCTURE, *imboost.persistence.__all__):
        assert f"`{name}`" in text
