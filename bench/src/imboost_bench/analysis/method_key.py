"""The methods of a result file: their keys, names and families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from imboost_bench.datasets.splits import RANDOM, STRATIFIED
from imboost_bench.paper import METHODS, PAPER_ROUNDS
from imboost_bench.run.budget import PAPER
from imboost_bench.run.protocol import RunLine
from imboost_bench.run.sampling import ALL_OUTLIERS, PAPER_SHARE, describe_sampling

FAMILIES = {
    "imboost": "IMBoost",
    **dict.fromkeys(["oc", "oc-nce"], "OC-based"),
    **dict.fromkeys(["sb", "sb-nce"], "SB-based"),
    "dsad": "DSAD-based",
    "xgbod": "XGBOD",
    **dict.fromkeys(["aad", "pine", "trees"], "peers"),
    "stack": "ours",
}
"""Family of each detector, as in the paper's figure 3, which lacks "peers" and "ours"."""

FAMILY_ORDER = [*dict.fromkeys(FAMILIES.values()), "others"]
"""All families, in the order of their colours."""


class QueryProtocol(NamedTuple):
    """Rounds, questions per round, oracle noise and rows; methods are compared under one."""

    rounds: int = PAPER_ROUNDS
    budget: str = PAPER
    oracle_noise: float = 0.0
    outlier_share: str = ALL_OUTLIERS
    split: str = STRATIFIED


PAPER_PROTOCOL = QueryProtocol()
"""The paper's questions, on the whole files and with stratified splits."""

LIKE_FOR_LIKE = QueryProtocol(outlier_share=PAPER_SHARE, split=RANDOM)
"""The paper's questions, with its splits and its numbers of outliers."""


@dataclass(frozen=True)
class MethodKey:
    """A detector, its query strategy, the protocol and the settings other than the defaults.

    >>> MethodKey("imboost", "mm", QueryProtocol(budget="20rows"), "n_members=5").name
    'imboost/mm · budget 20rows · n_members=5'
    """

    detector: str
    query: str
    protocol: QueryProtocol = PAPER_PROTOCOL
    settings: str = ""

    @classmethod
    def of(cls, line: RunLine) -> MethodKey:
        """Return the method of a line of the results."""
        protocol = QueryProtocol(*(getattr(line, name) for name in QueryProtocol._fields))
        return cls(line.detector, line.query, protocol, line.settings)

    @property
    def name(self) -> str:
        """Name of the method in tables and figures."""
        rounds, budget, noise, *rows = self.protocol
        parts = [f"{self.detector}/{self.query}"]
        parts += [] if rounds == PAPER_ROUNDS else [f"{rounds} rounds"]
        parts += [] if budget == PAPER else [f"budget {budget}"]
        parts += [f"noise {noise:g}"] if noise else []
        parts += describe_sampling(*rows)
        parts += [self.settings] if self.settings else []
        return " · ".join(parts)

    @property
    def family(self) -> str:
        """The family of the detector."""
        return FAMILIES.get(self.detector, FAMILY_ORDER[-1])

    @property
    def is_plain(self) -> bool:
        """Whether it has the paper's questions and default settings."""
        return self.protocol in (PAPER_PROTOCOL, LIKE_FOR_LIKE) and not self.settings

    @property
    def paper_column(self) -> str | None:
        """The column of the same method in the paper's tables."""
        return METHODS.get((self.detector, self.query)) if self.is_plain else None


IMBOOST = MethodKey("imboost", "mm")
"""The paper's method, the default reference of comparisons."""
