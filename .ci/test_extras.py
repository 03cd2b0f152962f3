"""Install every extra, and the benchmark, alone from the built wheels, and run their commands.

The base is installed once. An extra is a virtual environment of its own that sees the packages of
the base and holds only what the extra adds, so that a package it forgets to name is missing.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
OLD_SCIKIT_LEARN = "1.6.1"

ORDERS = """
import pyarrow.csv, pyarrow.parquet
from imboost.datasets.orders import mixed_table
table = mixed_table(300).table
pyarrow.csv.write_csv(table, "orders.csv")
pyarrow.parquet.write_table(table, "orders.parquet")
"""
WITHOUT_NETWORK = """
import sys
from imboost.cli.main import app
for arguments in (["fit", "orders.csv", "--out", "m.model"], ["score", "m.model", "orders.csv"]):
    app(arguments, standalone_mode=False)
assert "torch" not in sys.modules
"""
STORED_SESSION = """
import numpy as np
from imboost import Session, Stack
session = Session.open("s.db", np.random.default_rng(0).normal(size=(60, 3)), Stack())
session.tell(session.ask(1), ["inlier"])
"""
FLOW = """
import numpy as np
from imboost import IMBoost
IMBoost(backbone="flow", plain_epochs=1, trimmed_epochs=1).fit(np.eye(40, 3))
"""
POSTGRES = """
from imboost import Session
from imboost.errors import StoreError
try:
    Session.open("postgresql://localhost:1/none")
except StoreError as error:
    print(error)
"""
FIT = "fit orders.csv --out m.model --force"

# What each extra runs: a command of imboost, or Python code.
COMMANDS: dict[str, list[str]] = {
    "": [WITHOUT_NETWORK, "check orders.csv", "explain m.model orders.csv --row A0000000"],
    "report": [FIT, "report m.model orders.csv", "demo --out demo"],
    "sessions": [STORED_SESSION, "log s.db"],
    "label": ["label orders.csv --no-browser --port 8765"],
    "postgres": [POSTGRES],
    "serve": [FIT, "serve m.model --port 8766"],
    "tables": [FIT, "score m.model orders.csv --out s.xlsx", "check s.xlsx"],
    "export": [
        "fit orders.csv --out m.model --detector imboost --force",
        "export m.model --onnx m.onnx",
    ],
    "flows": [FLOW],
    "ray": [FIT, "score m.model orders.parquet --engine ray --out s.csv"],
}
# Commands that need an extra, and the extra that they name without it. That of `report` is never
# missed as long as torch brings Jinja2 too.
HINTS = {
    "label orders.csv --no-browser": "label",
    "serve m.model": "serve",
    "score m.model orders.csv --out s.xlsx": "tables",
    "score m.model orders.parquet --engine ray --out unscored": "ray",
    "log orders.csv": "sessions",
    "export m.model --onnx m.onnx": "export",
}
ADDRESS = re.compile(r"http://[\d.]+:\d+")  # in the line that a server prints
FINDINGS = 1  # exit code of `imboost check` if it finds something


def main(folder: Path) -> None:
    """Build, install and run everything in a new folder."""
    build = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder)
    run(*build, ROOT, ROOT / "bench")
    [wheel] = folder.glob("imboost-*.whl")
    [bench] = folder.glob("imboost_bench-*.whl")
    base = folder / "base"
    run(sys.executable, "-m", "venv", "--without-pip", base)
    install(base, wheel)
    [packages] = base.glob("lib/python*/site-packages")
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    print(f"base: {size / 1e6:,.0f} MB in {len(list(packages.glob('*.dist-info')))} packages")
    python(base, ORDERS, folder)
    for extra, commands in COMMANDS.items():
        environment = base
        if extra:
            environment = layer(folder, packages, extra)
            install(environment, f"imboost[{extra}]")
        for command in commands:
            execute(environment, command, folder)
        print(f"{extra or 'base'}: passed", flush=True)
    environment = layer(folder, packages, "bench")
    install(environment, bench)
    run(environment / "bin/imboost-bench", "--help", stdout=subprocess.DEVNULL)
    print("imboost-bench: passed", flush=True)
    for command, extra in HINTS.items():
        check_hint(base, command, extra, folder)
    check_old_scikit_learn(folder, base, packages)


def layer(folder: Path, packages: Path, name: str) -> Path:
    """Return a virtual environment that sees the packages of the base behind its own."""
    environment = folder / f"with-{name}"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    [own] = environment.glob("lib/python*/site-packages")
    (own / "base.pth").write_text(f"{packages}\n")
    return environment


def install(environment: Path, *packages: str | Path) -> None:
    """Install packages with the versions of `constraints.txt`."""
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin/python", "install")
    run(*pip, "--quiet", "--constraint", CONSTRAINTS, *packages)


def execute(environment: Path, command: str, folder: Path) -> None:
    """Run Python code or a command; ask a server for a page and stop it."""
    if "\n" in command:
        python(environment, command, folder)
    elif "--port" in command:
        program = [environment / "bin/python", "-m", "imboost", *command.split()]
        with subprocess.Popen(program, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            try:
                address = next(filter(None, map(ADDRESS.search, server.stdout)))[0]
                with urlopen(f"{address}/health") as page:
                    assert page.status == 200
            finally:
                server.terminate()
    else:
        program = [environment / "bin/python", "-m", "imboost", *command.split()]
        done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
        allowed = {0, FINDINGS} if command.startswith("check") else {0}
        assert done.returncode in allowed, f"imboost {command}\n{done.stdout}{done.stderr}"


def check_hint(environment: Path, command: str, extra: str, folder: Path) -> None:
    """Check that a command ends in one line that names the missing extra."""
    program = [environment / "bin/python", "-m", "imboost", *command.split()]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2, f"imboost {command}\n{done.stderr}"
    assert done.stderr.strip().endswith(f"pip install 'imboost[{extra}]'."), done.stderr


def check_old_scikit_learn(folder: Path, base: Path, packages: Path) -> None:
    """Check that a model has the same scores under another version of scikit-learn."""
    old = layer(folder, packages, "old-scikit-learn")
    pip = (sys.executable, "-m", "pip", "--python", old / "bin/python", "install")
    run(*pip, "--quiet", "--no-deps", f"scikit-learn=={OLD_SCIKIT_LEARN}")
    execute(old, "fit orders.csv --out old.model", folder)
    for environment, name in ((old, "old.csv"), (base, "new.csv")):
        execute(environment, f"score old.model orders.csv --out {name}", folder)
    assert (folder / "old.csv").read_text() == (folder / "new.csv").read_text()
    print(f"scikit-learn {OLD_SCIKIT_LEARN}: its model has the same scores")


def python(environment: Path, code: str, folder: Path) -> None:
    """Run Python code in a folder."""
    run(environment / "bin/python", "-c", code, cwd=folder)


def run(*command: str | Path, **options: Any) -> None:
    """Run a program; a failure ends this one."""
    subprocess.run(command, check=True, **options)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
