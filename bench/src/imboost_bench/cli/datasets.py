"""`imboost-bench datasets`: the sizes of the data sets, beside the paper's table C.1."""

from __future__ import annotations

import typer

from imboost_bench.cli import options
from imboost_bench.cli.tables import print_table


def datasets(data: options.BenchmarkData) -> None:
    """List rows, columns and outliers of the data sets, beside the paper's table C.1.

    The last column says what differs from that table, and from the paper's runs.
    """
    from imboost_bench.paper import OTHER_DATA, OTHER_DATA_NOTE
    from imboost_bench.report.contents import data_set_table
    from imboost_bench.report.tables import Table

    table = data_set_table(data)
    shown = table.frame.loc[:, lambda frame: ~frame.columns.str.startswith("paper's")]
    print_table(Table(shown, table.kinds))
    if table.frame["data set"].isin(OTHER_DATA).any():
        typer.echo(OTHER_DATA_NOTE)
