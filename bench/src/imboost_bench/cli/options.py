"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imboost.cli.options import MAX_SEED

BenchmarkData = Annotated[Path, typer.Option("--data", help="Folder with ADBench files.")]
ResultsFolder = Annotated[
    Path, typer.Option("--out", help="Folder for results.csv; new results are appended.")
]
Datasets = Annotated[
    list[str] | None, typer.Option("--dataset", help="Data set; may be repeated. Default: all.")
]
Seeds = Annotated[
    list[int] | None,
    typer.Option(
        "--seed",
        min=0,
        max=MAX_SEED,
        help="Random seed; may be repeated. Default: 100, 200 and 300.",
    ),
]
LargeSeeds = Annotated[
    list[int] | None,
    typer.Option(
        "--large-seed",
        min=0,
        max=MAX_SEED,
        help="Seed for tables of more than 50,000 rows, in place of --seed.",
    ),
]
Rounds = Annotated[int, typer.Option(min=0, help="Rounds of questions.")]
QuestionBudget = Annotated[
    str,
    typer.Option(
        "--budget",
        help="Questions per round: paper (1% of the rows, 6 for small sets), a fraction such as "
        "0.002, or a number such as 20rows.",
    ),
]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds after which a run is stopped and skipped.")
]
Jobs = Annotated[
    int,
    typer.Option(
        min=1,
        help="Worker processes, one core each. On a GPU they take turns unless NVIDIA's "
        "Multi-Process Service runs: nvidia-cuda-mps-control -d.",
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
