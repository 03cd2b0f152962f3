"""Made-up views of the labelling page: a table of orders, with any texts in place of its own."""

import dataclasses
from collections import Counter
from datetime import UTC, datetime
from enum import Enum
from itertools import cycle
from typing import Any

import numpy as np
from markupsafe import Markup

from imboost.explain import Explanation
from imboost.facts import Fact, FactKind, Position
from imboost.labelling.workspace import Training
from imboost.present.pictures import Frequencies, Histogram, draw_found
from imboost.present.rows import UNEXPLAINED, CellView, QuestionView, RowGroup, RowView
from imboost.session.log import Answer, Answered
from imboost.tables.roles import Role

RNG = np.random.default_rng(0)
CITY_COUNTS = {"Berlin": 900, "Hamburg": 700, "Munich": 640, "Cologne": 300, "Bremen": 90}
AMOUNTS = Histogram.of_column(RNG.lognormal(4, 0.6, 5000))
CITIES = Frequencies.of_column(list(CITY_COUNTS), list(CITY_COUNTS.values()))
SCORES = Histogram.of_scores(np.append(RNG.gamma(2, 1, 5000), RNG.uniform(9, 16, 30)))
NO_PICTURE = Markup()
NOTE = "Please leave it with the neighbour at no. 14b"


def replace_texts(value, texts):
    """Replace every text of a view that is not empty by one of `texts`, equal ones alike."""
    following, replaced = cycle(texts), {}

    def replace(value):
        if isinstance(value, Markup | Enum | Counter):
            return value
        if isinstance(value, str):
            if value and value not in replaced:
                replaced[value] = next(following)
            return replaced.get(value, "")
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return dataclasses.replace(value, **replace(vars(value)))
        if isinstance(value, dict):
            return {key: replace(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(replace(entry) for entry in value)
        return value

    return replace(value)


def question(**changes):
    """A row with three reasons, 24 other cells, similar rows and a group."""
    amount = AMOUNTS.draw("4,999.00 among all amounts", expected=49.99, mark=4999.0)
    city = CITIES.draw("Munich among all cities", expected="Hamburg", mark="Munich")
    shipped = AMOUNTS.draw("Shipping dates", expected=60.0)
    when = np.datetime64("2025-03-02")
    unusual = [
        _reason("amount", "4,999.00", 49.99, Position.ABOVE, 1.0, amount),
        _reason("city", "Munich", "Hamburg", Position.AMONG, 0.61, city),
        _reason("shipped_at", None, when, Position.MISSING, 0.4, shipped),
    ]
    facts = [cell.reason for cell in unusual if cell.reason]
    cells = {"unit_price": "49.99", "currency": "EUR", "coupon": None, "delivery_note": NOTE}
    cells |= {f"attribute_{n}": f"{50 - n / 3:.2f}" for n in range(20)}
    in_munich = [_cell("city", "Munich"), _cell("state", "Hamburg")]
    group = RowGroup(
        "The same city and state, which occur together nowhere else.",
        [_row(700 + n, f"order 20{n:03d}", in_munich, score=11.2 - n / 10) for n in range(37)],
    )
    given = QuestionView(
        row=10423,
        name="order 10423",
        request="b5f2",
        score=14.318,
        rank=3,
        n_rows=50_000,
        probability=0.87,
        is_outlier=True,
        origin="Its score is among the highest of all unanswered rows.",
        cells=[*unusual, *(_cell(column, text) for column, text in cells.items())],
        explanation=Explanation(14.318, 1.0, 0.3, is_exact=False, reasons=facts),
        score_picture=SCORES.draw("Scores of all rows", threshold=9.5, mark=14.3),
        similar=[
            _row(88, "order 9120", [_cell("amount", "5,499.00")], answer=Answer.OUTLIER),
            _row(89, "order 7731", [*in_munich, _cell("coupon", None)], answer=Answer.INLIER),
            _row(90, "order 7732", [], answer=Answer.UNSURE),
        ],
        group=group,
        answers=[("Grace", Answer.INLIER)],
        note="amount is in cents",
    )
    return dataclasses.replace(given, **changes)


def _cell(column, text):
    return CellView(column=column, text=text)


def _reason(column, text, expected, position, contribution, picture):
    fact = Fact(
        kind=FactKind.VALUE,
        columns=(column,),
        text=text,
        expected=expected,
        position=position,
        share=0.9998 if position is Position.ABOVE else 0.004,
        contribution=contribution,
    )
    return CellView(column=column, text=text, reason=fact, picture=picture)


def _row(row, name, cells, **more):
    given = {"score": 1.0, "probability": 0.5, "is_outlier": True, **more}
    return RowView(row=row, name=name, cells=cells, **given)


def empty_question():
    """A row without reasons, other cells, similar rows or a group."""
    lists: dict[str, Any] = {"cells": [], "similar": [], "answers": []}
    texts: dict[str, Any] = {"name": "row 1", "origin": "", "note": ""}
    nothing = {"explanation": UNEXPLAINED, "score_picture": Markup(), "group": None}
    return question(**texts, **lists, **nothing)


def panel(**changes):
    """The panel after 40 answers."""
    found = [n % 3 != 0 and n < 24 for n in range(40)]
    given = {
        "round": 2,
        "n_open": 7,
        "counts": Counter(
            {Answer.OUTLIER: 16, Answer.INLIER: 21, Answer.UNSURE: 2, Answer.SKIP: 1}
        ),
        "found_picture": draw_found(found, "16 outliers in 40 answers"),
        "score_picture": SCORES.draw("Scores of all rows", threshold=9.5),
        "n_predicted": 312,
        "precision": "86% (71–95%)",
        "missed": "14 rows (3–41)",
        "is_threshold_estimated": True,
        "advice": "Go on: about 14 outliers are still missed.",
        "should_stop": False,
        "training": Training("Training on 40 answers", 20.0),
        "until_training": 3,
        "n_disagreements": 2,
        "agreement": "Two people agree on 92% of shared rows (kappa 0.81).",
        "error": "",
    }
    return {**given, **changes}


def empty_panel():
    """The panel before any answer."""
    texts = dict.fromkeys(["precision", "missed", "advice", "agreement"], "")
    return panel(round=0, n_disagreements=0, training=None, counts=Counter(), **texts)


def columns():
    """Thirty columns of orders."""
    drawn = AMOUNTS.draw("Distribution of amount")

    def column(name, role, inferred, n_missing, n_distinct, note, examples, picture=NO_PICTURE):
        return {
            "name": name,
            "role": role,
            "inferred_role": inferred,
            "n_missing": n_missing,
            "n_distinct": n_distinct,
            "note": note,
            "examples": examples,
            "picture": picture,
        }

    numeric, text = Role.NUMERIC, Role.TEXT
    free_text = "free text, not used for scoring"
    made = [
        column("order_id", Role.IDENTIFIER, Role.IDENTIFIER, 0, 50_000, "all differ", ["10423"]),
        column("amount", numeric, numeric, 12, 8123, "", ["49.99", "12.50", "8.00"], drawn),
        column("zip", Role.CATEGORICAL, numeric, 3, 4011, "leading zeros: codes", ["01067"]),
        column("note", Role.IGNORED, text, 41_000, 8800, free_text, [NOTE]),
        *(
            column(f"attribute_{n}", numeric, numeric, n, 400, "", ["1.5"], drawn)
            for n in range(26)
        ),
    ]
    findings = [
        "37 rows have a city that occurs with no other row of their state.",
        "amount: -1 occurs 214 times, which looks like a placeholder for a missing value.",
    ]
    return {
        "columns": made,
        "roles": list(Role),
        "n_rows": 50_000,
        "findings": findings,
        "error": "",
    }


def no_columns():
    """A table without columns, with an error."""
    return {"columns": [], "roles": [], "n_rows": 0, "findings": [], "error": "No columns."}


def suspects(n=30):
    """A page of the list of suspects."""
    names = ["amount", "city", "state"]
    rows = [
        _row(
            100 + at,
            f"order {10423 + 17 * at}",
            [
                _cell("amount", f"{4999 - 13 * at:,}.00"),
                _cell("city", "Munich" if at % 2 else None),
                _cell("state", "Hamburg"),
            ],
            rank=at + 1,
            score=14.3 - at / 3,
            probability=max(0.02, 0.97 - at / 20),
            is_outlier=at < 14,
            answer=["outlier", None, None, "inlier", None, "unsure", "skip"][at % 7],
        )
        for at in range(n)
    ]
    all_columns = [*names, *(f"attribute_{at}" for at in range(24))]
    return {
        "rows": rows,
        "columns": names,
        "all_columns": all_columns,
        "sort": "score",
        "descending": True,
        "column": "city",
        "value": "Munich",
        "answered": "all",
        "page": 2,
        "n_pages": 41,
        "n_rows": 1214,
    }


def history(n=20):
    """A page of the history."""
    entries = [
        {
            "number": n - at,
            "name": f"order {10423 + 17 * at}",
            "entry": Answered(
                row=100 + at,
                answer=list(Answer)[at % 4],
                round=1,
                who="Ada",
                when=datetime(2025, 3, 2, 10, 59 - at, tzinfo=UTC),
                seconds=3.2,
                note="amount is in cents" if at % 4 == 0 else "",
                resolves=at % 3 == 2,
            ),
            "is_current": at % 6 != 5,
        }
        for at in range(n)
    ]
    return {"entries": entries, "page": 1, "n_pages": 3, "n_entries": 57}


def disagreements():
    """Two doubtful answers and a conflict."""

    def entry(row, name, probability, *answers):
        return {"row": row, "name": name, "answers": list(answers), "probability": probability}

    doubtful = [
        entry(88, "order 9120", 0.93, ("Ada", Answer.INLIER)),
        entry(89, "order 7731", 0.04, ("Ada", Answer.OUTLIER)),
    ]
    both = [("Ada", Answer.OUTLIER), ("Grace", Answer.INLIER)]
    return {"doubtful": doubtful, "conflicts": [entry(91, "order 5500", None, *both)]}


def results():
    """Downloads, a saved model and the report."""
    downloads = [
        ("/download/scores.csv", "Scored table (CSV)", "Every row with its score and answer"),
        ("/download/answers.csv", "Answers (CSV)", "The history: who answered what, and when"),
    ]
    return {"downloads": downloads, "saved": "orders.imboost", "report": "/report"}


def common(**changes):
    """What every page gets."""
    given: dict[str, Any] = {
        "table_name": "orders-2025.csv",
        "who": "Ada",
        "version": "0.1.0",
    }
    given["is_logged_in"] = True
    return {**given, "phase": "questions", "panel": panel(), **changes}
