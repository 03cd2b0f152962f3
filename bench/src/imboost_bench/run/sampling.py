"""The rows of a run: the outliers that are kept, and the split into training and test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imboost.datasets.dataset import Dataset
from imboost.errors import SettingError
from imboost.validation import check_number
from imboost_bench.datasets.splits import STRATIFIED, Split, limit_outliers, split_dataset
from imboost_bench.paper import OUTLIER_SHARES

if TYPE_CHECKING:
    from imboost_bench.run.protocol import RunSpec

ALL_OUTLIERS, PAPER_SHARE = "all", "paper"


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


def describe_sampling(outlier_share: str, split: str) -> list[str]:
    """Describe what differs from all outliers and a stratified split.

    >>> describe_sampling("0.05", "random"), describe_sampling("all", "stratified")
    (['outlier share 0.05', 'random split'], [])
    """
    parts = [] if outlier_share == ALL_OUTLIERS else [f"outlier share {outlier_share}"]
    return parts if split == STRATIFIED else [*parts, f"{split} split"]


def split_for(spec: RunSpec, dataset: Dataset) -> Split:
    """Return the training and test rows of a run."""
    share = largest_share(spec.outlier_share, dataset.group)
    kept = limit_outliers(dataset, share, spec.seed_of("outliers"))
    return split_dataset(kept, spec.seed, spec.split)
