"""Speed benchmarks: how they measure memory."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

LARGE_THEN_SMALL = """
import sys
from imboost_bench.speed.timing import peak_memory
for code in ("bytes(1) * 500_000_000", "pass"):
    print(peak_memory(sys.executable, "-c", code))
"""
FAILING = """
import sys
from imboost_bench.speed.timing import peak_memory
peak_memory(sys.executable, "-c", "raise SystemExit(3)")
"""


def run(code):
    # Not in this process, because the memory of a child counts from that of its parent.
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)


def test_each_command_is_measured_alone_and_in_gigabytes():
    large, small = map(float, run(LARGE_THEN_SMALL).stdout.split())
    assert 0.5 < large < 0.6
    assert small < 0.4


def test_a_command_that_fails_ends_the_benchmark():
    done = run(FAILING)
    assert done.returncode != 0
    assert "non-zero exit status 3" in done.stderr
