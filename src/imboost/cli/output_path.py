"""Where commands write unless told otherwise: beside the data file."""

from __future__ import annotations

from pathlib import Path

from imboost.tables.files import CSV_ENDINGS, PARQUET_ENDINGS


def default_output(data: Path, ending: str) -> Path:
    """Return the path of a data file with another ending.

    >>> default_output(Path("shop/orders.csv.gz"), ".model").as_posix()
    'shop/orders.model'
    """
    data = data.resolve() if data.name in ("", "..") else data
    name = data.name
    for known in sorted(CSV_ENDINGS + PARQUET_ENDINGS, key=len, reverse=True):
        if name.lower().endswith(known):
            name = name[: -len(known)]
            break
    return data.with_name(name + ending)
