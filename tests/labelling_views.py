"""Made-up views of the labelling page: a table of orders, with any texts in place of its own."""

import dataclasses
from enum import Enum
from itertools import cycle
from typing import Any

import numpy as np
from markupsafe import Markup

from imboost.labelling import views
from imboost.present.pictures import Frequencies, Histogram, draw_found
from imboost.session.answers import Answer
from imboost.tables.roles import Role

RNG = np.random.default_rng(0)
CITY_COUNTS = {"Berlin": 900, "Hamburg": 700, "Munich": 640, "Cologne": 300, "Bremen": 90}
AMOUNTS = Histogram.of_column(RNG.lognormal(4, 0.6, 5000))
CITIES = Frequencies.of_column(list(CITY_COUNTS), list(CITY_COUNTS.values()))
SCORES = Histogram.of_scores(np.append(RNG.gamma(2, 1, 5000), RNG.uniform(9, 16, 30)))
NO_PICTURE = Markup()
NOTE = "Please leave it with the neighbour at no. 14b"


def replace_texts(value, texts):
    """Replace every text of a view that is not empty by the next one of `texts`."""
    following = cycle(texts)

    def replace(value):
        if isinstance(value, Markup | Enum):
            return value
        if isinstance(value, str):
            return next(following) if value else value
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
    above = "above 99.98% of reference rows"
    rare = "in 0.02% of reference rows with the same state"
    late = "missing in 0.4% of reference rows"
    amount = AMOUNTS.draw("4,999.00 among all amounts", expected=49.99, mark=4999.0)
    city = CITIES.draw("Munich among all cities", expected="Hamburg", mark="Munich")
    shipped = AMOUNTS.draw("Shipping dates", expected=60.0)
    reasons = [
        _reason("amount", "4,999.00", "49.99", above, 1.0, amount),
        _reason("city", "Munich", "Hamburg", rare, 0.61, city),
        _reason("shipped_at", "", "2025-03-02", late, 0.23, shipped),
    ]
    cells = {"unit_price": "49.99", "currency": "EUR", "coupon": "", "delivery_note": NOTE}
    cells |= {f"attribute_{n}": f"{50 - n / 3:.2f}" for n in range(20)}
    in_munich = [("city", "Munich"), ("state", "Hamburg")]
    group = views.Group(
        "The same city and state, which occur together nowhere else.",
        [column for column, _ in in_munich],
        [
            views.GroupRow(700 + n, f"order 20{n:03d}", 11.2 - n / 10, [v for _, v in in_munich])
            for n in range(37)
        ],
    )
    given = views.QuestionView(
        row=10423,
        name="order 10423",
        request="b5f2",
        score=14.318,
        rank=3,
        n_rows=50_000,
        probability=0.87,
        is_outlier=True,
        origin="Its score is among the highest of all unanswered rows.",
        reasons=reasons,
        others=[views.CellView(column=column, value=value) for column, value in cells.items()],
        score_picture=SCORES.draw("Scores of all rows", threshold=9.5, mark=14.3),
        similar=[
            views.SimilarRow(88, "order 9120", Answer.OUTLIER, [("amount", "5,499.00")]),
            views.SimilarRow(89, "order 7731", Answer.INLIER, [*in_munich, ("coupon", "")]),
            views.SimilarRow(90, "order 7732", Answer.UNSURE, []),
        ],
        group=group,
        answers=[("Grace", Answer.INLIER)],
        note="amount is in cents",
    )
    return dataclasses.replace(given, **changes)


def _reason(column, value, expected, position, strength, picture):
    return views.CellView(
        column=column,
        value=value,
        expected=expected,
        position=position,
        strength=strength,
        picture=picture,
    )


def empty_question():
    """A row without reasons, other cells, similar rows or a group."""
    lists: dict[str, Any] = {"reasons": [], "others": [], "similar": [], "answers": []}
    return question(name="row 1", origin="", note="", score_picture=Markup(), group=None, **lists)


def panel(**changes):
    """The panel after 40 answers."""
    found = [n % 3 != 0 and n < 24 for n in range(40)]
    given = views.PanelView(
        round=2,
        n_open=7,
        n_answers=40,
        n_outliers=16,
        n_inliers=21,
        n_unsure=2,
        n_skipped=1,
        found_picture=draw_found(found, "16 outliers in 40 answers"),
        score_picture=SCORES.draw("Scores of all rows", threshold=9.5),
        n_predicted=312,
        precision="86% (71–95%)",
        missed="14 rows (3–41)",
        is_threshold_estimated=True,
        advice="Go on: about 14 outliers are still missed.",
        should_stop=False,
        training=views.TrainingView("Training on 40 answers", 0.42, 12.0),
        until_training=3,
        n_disagreements=2,
        agreement="Two people agree on 92% of shared rows (kappa 0.81).",
    )
    return dataclasses.replace(given, **changes)


def empty_panel():
    """The panel before any answer."""
    counts = dict.fromkeys(["n_answers", "n_outliers", "n_inliers", "n_unsure", "n_skipped"], 0)
    texts = dict.fromkeys(["precision", "missed", "advice", "agreement"], "")
    return panel(round=0, n_disagreements=0, training=None, **counts, **texts)


def columns():
    """Thirty columns of orders."""
    drawn = AMOUNTS.draw("Distribution of amount")

    def column(name, role, inferred, n_missing, n_distinct, note, examples, picture=NO_PICTURE):
        return views.ColumnView(
            index=0,
            name=name,
            role=role,
            inferred_role=inferred,
            n_missing=n_missing,
            n_distinct=n_distinct,
            note=note,
            examples=examples,
            picture=picture,
        )

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
    made = [dataclasses.replace(view, index=at) for at, view in enumerate(made)]
    findings = [
        "37 rows have a city that occurs with no other row of their state.",
        "amount: -1 occurs 214 times, which looks like a placeholder for a missing value.",
    ]
    return views.ColumnsView(columns=made, roles=list(Role), n_rows=50_000, findings=findings)


def no_columns():
    """A table without columns, with an error."""
    return views.ColumnsView(columns=[], roles=[], n_rows=0, findings=[], error="No columns.")


def suspects(n=30):
    """A page of the list of suspects."""
    names = ["amount", "city", "state"]
    rows = [
        views.SuspectRow(
            row=100 + at,
            name=f"order {10423 + 17 * at}",
            rank=at + 1,
            score=14.3 - at / 3,
            probability=max(0.02, 0.97 - at / 20),
            is_outlier=at < 14,
            answer=["outlier", "", "", "inlier", "", "unsure", "skip"][at % 7],
            values=[f"{4999 - 13 * at:,}.00", "Munich" if at % 2 else "", "Hamburg"],
        )
        for at in range(n)
    ]
    all_columns = [*names, *(f"attribute_{at}" for at in range(24))]
    return views.SuspectsView(
        rows=rows,
        columns=names,
        all_columns=all_columns,
        sort="score",
        descending=True,
        column="city",
        value="Munich",
        answered="all",
        page=2,
        n_pages=41,
        n_rows=1214,
    )


def history(n=20):
    """A page of the history."""
    entries = [
        views.HistoryEntry(
            number=n - at,
            row=100 + at,
            name=f"order {10423 + 17 * at}",
            answer=["outlier", "inlier", "unsure", "skip", "outlier"][at % 5],
            who="Ada",
            time=f"2025-03-02 10:{59 - at:02d}",
            kind=["answer", "correction", "group"][at % 3],
            note="amount is in cents" if at % 4 == 0 else "",
            seconds="3.2 s",
            is_current=at % 6 != 5,
        )
        for at in range(n)
    ]
    return views.HistoryView(entries, 1, 3, 57)


def disagreements():
    """Two doubtful answers and a conflict."""
    doubtful = [
        views.Disagreement(88, "order 9120", [("Ada", Answer.INLIER)], 0.93),
        views.Disagreement(89, "order 7731", [("Ada", Answer.OUTLIER)], 0.04),
    ]
    both = [("Ada", Answer.OUTLIER), ("Grace", Answer.INLIER)]
    return views.DisagreementsView(doubtful, [views.Disagreement(91, "order 5500", both, None)])


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
