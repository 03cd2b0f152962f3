"""What methods are compared under: rounds, questions per round, oracle noise and rows."""

from __future__ import annotations

import re
from typing import NamedTuple

from imboost.errors import SettingError
from imboost.session import questions_per_round
from imboost.validation import check_number
from imboost_bench.datasets.splits import RANDOM, STRATIFIED
from imboost_bench.paper import OUTLIER_SHARES, PAPER_ROUNDS

PAPER = "paper"  # the paper's number of questions
ALL_OUTLIERS, PAPER_SHARE = "all", "paper"


class QueryProtocol(NamedTuple):
    """Rounds, questions per round, oracle noise and rows, see `RunSpec`.

    >>> QueryProtocol(rounds=3, outlier_share="0.05", split="random").differences
    ['rounds 3', 'outlier share 0.05', 'random split']
    """

    rounds: int = PAPER_ROUNDS
    budget: str = PAPER
    oracle_noise: float = 0.0
    outlier_share: str = ALL_OUTLIERS
    split: str = STRATIFIED

    @property
    def differences(self) -> list[str]:
        """What differs from the defaults."""
        texts = ("rounds {}", "budget {}", "noise {:g}", "outlier share {}", "{} split")
        pairs = zip(texts, self, QueryProtocol(), strict=True)
        return [text.format(value) for text, value, default in pairs if value != default]


PAPER_PROTOCOL = QueryProtocol()
"""The paper's questions, on the whole files and with stratified splits."""

LIKE_FOR_LIKE = QueryProtocol(outlier_share=PAPER_SHARE, split=RANDOM)
"""The paper's questions, with its splits and its numbers of outliers."""


def parse_budget(text: str) -> str:
    """Check "paper", a fraction such as "0.002" or a number such as "20rows"; unify spellings.

    >>> [parse_budget(text) for text in ("paper", "1e-3", "20 rows")]
    ['paper', '0.001', '20rows']
    """
    if text == PAPER:
        return text
    rows = re.fullmatch(r"(\d+) ?rows", text)
    try:
        number = int(rows[1]) if rows else float(text)
    except ValueError:
        raise SettingError(
            f"budget must be '{PAPER}', a fraction of the rows such as 0.002, or a number such "
            f"as 20rows; got '{text}'."
        ) from None
    check_number("budget", number, above=0.0, maximum=None if rows else 1.0)
    return f"{number}rows" if rows else repr(number)


def count_questions(budget: str, n_rows: int) -> int:
    """Return the questions per round for `n_rows` training rows, at least one.

    >>> [count_questions(budget, 10_000) for budget in ("paper", "0.002", "20rows")]
    [100, 20, 20]
    """
    if budget == PAPER:
        return questions_per_round(n_rows)
    if budget.endswith("rows"):
        return min(int(budget.removesuffix("rows")), n_rows)
    return max(1, int(float(budget) * n_rows))


def parse_outlier_share(text: str) -> str:
    """Check "all", "paper" or a fraction such as "0.05", and return it in one spelling.

    >>> parse_outlier_share("0.050"), parse_outlier_share("1")
    ('0.05', 'all')
    """
    if text in (ALL_OUTLIERS, PAPER_SHARE):
        return text
    try:
        share = float(text)
    except ValueError:
        raise SettingError(
            f"outlier_share must be '{ALL_OUTLIERS}', '{PAPER_SHARE}' or a fraction of the rows "
            f"such as 0.05; got '{text}'."
        ) from None
    check_number("outlier_share", share, above=0.0, maximum=1.0)
    return ALL_OUTLIERS if share == 1 else repr(share)


def largest_share(outlier_share: str, group: str) -> float:
    """Return the largest fraction of outliers in a data set of `group`; 1 without a limit.

    >>> largest_share("paper", "MVTec-AD"), largest_share("paper", "wine")
    (0.05, 1.0)
    """
    if outlier_share == PAPER_SHARE:
        return OUTLIER_SHARES.get(group, 1.0)
    return 1.0 if outlier_share == ALL_OUTLIERS else float(outlier_share)
