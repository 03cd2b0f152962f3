"""What terminals show during long jobs."""

import io
import re

from rich.console import Console

from imboost.cli import progress


def test_a_terminal_shows_what_is_done_without_its_control_characters(monkeypatch):
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    with progress.stage("training [red]x\x1b[0m"):
        pass
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", output.getvalue())
    assert "training [red]x[0m" in text
