import csv
import sys

import pytest
from typer.testing import CliRunner

from adbench_folder import write_planted
from imboost_bench.cli import main as cli
from page_reading import outside_addresses

N_UPDATES = 2 * (50 * 5 + 10 * 5)  # the default warm-up and one round, of two variants


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """The folder of a traced run, and the program's result."""
    data = write_planted(tmp_path_factory.mktemp("adbench"), "ash")
    out = tmp_path_factory.mktemp("trace") / "out"
    arguments = ["trace", "ash", "--data", data, "--out", out, "--rounds", 1]
    result = CliRunner().invoke(
        cli.app, [str(part) for part in arguments], catch_exceptions=False, env={"COLUMNS": "200"}
    )
    return out, result


def test_a_trace_writes_a_table_and_a_page(traced):
    out, result = traced
    assert result.exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["trace_ash.csv", "trace_ash.html"]
    with (out / "trace_ash.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == N_UPDATES
    assert {line["phase"] for line in lines} == {
        "warm-up-plain",
        "warm-up-trimmed",
        "polarization",
    }
    page = (out / "trace_ash.html").read_text(encoding="utf-8")
    assert outside_addresses(page) == []
    assert "<h1>ash, update by update</h1>" in page


def test_a_trace_prints_its_findings_and_the_files_written(traced):
    out, result = traced
    sources = [f"Assumption {number}" for number in ("1", "2.1", "2.2", "2.3", "3", "4")]
    sources += [f"Lemma {number}" for number in range(1, 6)]
    for source in (*sources, "Proposition 1", "Proposition 2"):
        assert f"{source}: " in result.stdout
    for variant in ("constant weights", "decaying weights", "losses with K = 16"):
        assert variant in result.stdout
    assert f"wrote {out / 'trace_ash.html'}" in result.stdout
    assert "updates" in result.stderr
    assert "100%" in result.stderr


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("ahs",), "Unknown data set 'ahs'. Did you mean 'ash'?"),
        (("ash", "--query", "mmm"), "Unknown query strategy 'mmm'. Did you mean"),
        (("ash", "--device", "abacus"), "device must be 'auto', 'cpu' or"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_a_wrong_name_ends_with_one_line_and_code_2(wrong, message, tmp_path, monkeypatch, capsys):
    data = write_planted(tmp_path / "data", "ash")
    out = tmp_path / "out"
    arguments = ["trace", *wrong, "--data", data, "--out", out]
    monkeypatch.setattr(sys, "argv", ["imboost-bench", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    [error] = capsys.readouterr().err.splitlines()
    assert end.value.code == 2
    assert error.startswith("imboost-bench: ")
    assert message in error
    assert not out.exists()


@pytest.mark.parametrize(
    "wrong", [[], ["ash", "--rounds", "0"], ["ash", "--seed", "-1"]], ids=" ".join
)
def test_a_wrong_option_ends_with_code_2(wrong):
    result = CliRunner().invoke(cli.app, ["trace", *wrong, "--data", "d", "--out", "o"])
    assert result.exit_code == 2
    assert "Usage: " in result.stderr
