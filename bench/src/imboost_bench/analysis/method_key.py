"""The methods of a result file: their keys, names and families."""

from __future__ import annotations

from typing import NamedTuple

from imboost.present.formatting import percent
from imboost_bench.paper import METHODS, OTHER_DATA, PARTS, paper_datasets
from imboost_bench.run.protocol import RunSpec
from imboost_bench.run.query_protocol import (
    LIKE_FOR_LIKE,
    PAPER_PROTOCOL,
    PAPER_SHARE,
    QueryProtocol,
    largest_share,
)

FAMILIES = {
    "imboost": "IMBoost",
    **dict.fromkeys(["oc", "oc-nce"], "OC-based"),
    **dict.fromkeys(["sb", "sb-nce"], "SB-based"),
    "dsad": "DSAD-based",
    "xgbod": "XGBOD",
    **dict.fromkeys(["aad", "trees"], "peers"),
    "stack": "ours",
}
"""Family of each detector, as in the paper's figure 3, which lacks "peers" and "ours"."""

FAMILY_ORDER = [*dict.fromkeys(FAMILIES.values()), "others"]
"""All families, in the order of their colours."""


class MethodKey(NamedTuple):
    """A detector, its query strategy, the protocol and the settings other than the defaults.

    >>> MethodKey("imboost", "mm", QueryProtocol(budget="20rows"), "n_members=5").name
    'imboost/mm · budget 20rows · n_members=5'
    """

    detector: str
    query: str
    protocol: QueryProtocol = PAPER_PROTOCOL
    settings: str = ""

    @classmethod
    def of(cls, run: RunSpec) -> MethodKey:
        """Return the method of a run."""
        return cls(run.detector, run.query, run.protocol, run.settings)

    @property
    def name(self) -> str:
        """Name of the method in tables and figures."""
        parts = [f"{self.detector}/{self.query}", *self.protocol.differences, self.settings]
        return " · ".join(filter(None, parts))

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


def rows_unlike_paper(group: str, outlier_share: str, n_parts: int) -> str:
    """Say how the rows of a data set differ from the paper's; "" if they do not, or unknown.

    >>> rows_unlike_paper("thyroid", "all", 1)
    'outliers up to 2% in the paper, all here'
    >>> rows_unlike_paper("thyroid", "paper", 1)
    ''
    """
    if group.lower() not in paper_datasets().index:
        return ""
    if group in OTHER_DATA:
        return "another data set in the paper"
    shares = [largest_share(share, group) for share in (PAPER_SHARE, outlier_share)]
    paper, here = ("all" if share == 1 else f"up to {percent(share)}" for share in shares)
    all_outliers = paper_datasets().loc[group.lower(), "share"]
    is_alike = min(shares[0], all_outliers) == min(shares[1], all_outliers)
    reasons = [] if is_alike else [f"outliers {paper} in the paper, {here} here"]
    if n_parts < PARTS.get(group, 1):
        reasons.append(f"{n_parts} of {PARTS[group]} parts")
    return "; ".join(reasons)
