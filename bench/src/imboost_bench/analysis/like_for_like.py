"""Whether a data set has the same rows in the benchmark and in the paper."""

from __future__ import annotations

from imboost.present.formatting import percent
from imboost_bench.paper import OTHER_DATA, PARTS, paper_datasets
from imboost_bench.run.sampling import PAPER_SHARE, largest_share


def rows_unlike_paper(group: str, outlier_share: str, n_parts: int) -> str:
    """Say how the rows of a data set differ from the paper's; "" if they do not, or unknown.

    >>> rows_unlike_paper("thyroid", "all", 1)
    'outliers up to 2% in the paper, all here'
    >>> rows_unlike_paper("thyroid", "paper", 1)
    ''
    """
    facts = paper_datasets().get(group.lower())
    if facts is None:
        return ""
    if group in OTHER_DATA:
        return "another data set in the paper"
    reasons = []
    shares = [largest_share(share, group) for share in (PAPER_SHARE, outlier_share)]
    if min(shares[0], facts.share) != min(shares[1], facts.share):
        paper, own = ("all" if share == 1 else f"up to {percent(share)}" for share in shares)
        reasons.append(f"outliers {paper} in the paper, {own} here")
    if n_parts < PARTS.get(group, 1):
        reasons.append(f"{n_parts} of {PARTS[group]} parts")
    return "; ".join(reasons)
