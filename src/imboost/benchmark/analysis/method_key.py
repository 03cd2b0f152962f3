"""What tells the compared methods of a result file apart, and how they are called."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from imboost.benchmark.paper import METHODS, PAPER_ROUNDS
from imboost.benchmark.run.budget import PAPER
from imboost.benchmark.run.protocol import RoundResult

FAMILIES = {
    "imboost": "IMBoost",
    "oc": "OC-based",
    "oc-nce": "OC-based",
    "sb": "SB-based",
    "sb-nce": "SB-based",
    "dsad": "DSAD-based",
    "xgbod": "XGBOD",
    "aad": "peers",
    "pine": "peers",
    "trees": "peers",
    "stack": "ours",
}
"""Detectors that share an idea, as in the paper's figure 3; the last two are not in it."""

OTHER_FAMILY = "others"


class Protocol(NamedTuple):
    """What is the same for all methods that may be compared: the questions and who answers."""

    rounds: int = PAPER_ROUNDS
    budget: str = PAPER
    oracle_noise: float = 0.0


PAPER_PROTOCOL = Protocol()


@dataclass(frozen=True)
class MethodKey:
    """A detector, its query strategy, what it was asked under, and its settings.

    Parameters
    ----------
    detector, query : str
    protocol : Protocol
    settings : str
        What differs from the defaults, as the result file writes it.

    Examples
    --------
    >>> MethodKey("imboost", "mm", Protocol(budget="20rows"), "n_members=5").name
    'imboost/mm · budget 20rows · n_members=5'
    """

    detector: str
    query: str
    protocol: Protocol = PAPER_PROTOCOL
    settings: str = ""

    @classmethod
    def of(cls, line: RoundResult) -> MethodKey:
        """Return the method that a line of the results belongs to."""
        protocol = Protocol(line.rounds, line.budget, line.oracle_noise)
        return cls(line.detector, line.query, protocol, line.settings)

    @property
    def name(self) -> str:
        """How the method is called in tables and figures."""
        rounds, budget, noise = self.protocol
        parts = [f"{self.detector}/{self.query}"]
        parts += [] if rounds == PAPER_ROUNDS else [f"{rounds} rounds"]
        parts += [] if budget == PAPER else [f"budget {budget}"]
        parts += [f"noise {noise:g}"] if noise else []
        parts += [self.settings] if self.settings else []
        return " · ".join(parts)

    @property
    def family(self) -> str:
        """The group of related detectors it is drawn with."""
        return FAMILIES.get(self.detector, OTHER_FAMILY)

    @property
    def is_plain(self) -> bool:
        """Whether it is run as in the paper, with default settings."""
        return self == MethodKey(self.detector, self.query)

    @property
    def paper_column(self) -> str | None:
        """The paper's column it may be compared with."""
        return METHODS.get((self.detector, self.query)) if self.is_plain else None

    def under(self, protocol: Protocol) -> MethodKey:
        """Return the same method under another protocol."""
        return replace(self, protocol=protocol)


IMBOOST = MethodKey("imboost", "mm")
"""The paper's method, with which all others are compared unless another is named."""
