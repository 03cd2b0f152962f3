"""BATCH-BALD: the highest joint mutual information between labels and the predicting member."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import entr

from imboost.arrays import Floats, Indices
from imboost.errors import SettingError
from imboost.query.strategy import FittedDetector, Rng, Scores
from imboost.validation import check_number

N_CONFIGURATIONS = 256  # label configurations of a batch: all for 8 rows, a sample for more
MIN_PROBABILITY = 1e-3  # no member is certain; keeps products of 100 probabilities above 0
SATURATION = 0.99  # fraction of the maximum of joint mutual information that ends the selection
MIN_INFORMATION = 1e-9  # nats; rows with less can be drawn, but last


@dataclass
class BatchBALD:
    """Select rows by the joint mutual information between their labels and the predicting member.

    The mutual information between the label of a row and the member that predicts it (BALD) is
    high if the members of the detector disagree about the row, each with low entropy. BatchBALD
    maximises the joint mutual information of the batch: of several equal rows it selects one. It
    is exact for the first rows of a batch and estimated on sampled label configurations for the
    others.

    The joint mutual information is at most the logarithm of the number of members, and the time
    grows with the batch. So at most `max_joint` rows are selected jointly, and fewer if they reach
    99% of this bound or if no other row adds information. The others are drawn with probabilities
    proportional to their own mutual information (PowerBALD).

    The detector needs members, see `BaseDetector.member_proba`. No state between rounds.

    Parameters
    ----------
    max_joint : int
        Maximum number of rows that are selected jointly.
    max_candidates : int
        Maximum number of candidates of the joint selection; if there are more, a sample is drawn
        by PowerBALD.

    References
    ----------
    Kirsch et al., "BatchBALD: efficient and diverse batch acquisition for deep Bayesian active
    learning", NeurIPS 2019.

    Kirsch et al., "Stochastic batch acquisition: a simple baseline for deep active learning", TMLR
    2023: PowerBALD.
    """

    needs_members: ClassVar[bool] = True
    """Whether the strategy compares the members of a detector."""

    max_joint: int = 50
    max_candidates: int = 4000
    _proba: Floats | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("max_joint", self.max_joint, minimum=1, maximum=100, whole=True)
        check_number("max_candidates", self.max_candidates, minimum=1, whole=True)

    def set_detector(self, detector: FittedDetector, X: Any) -> None:
        """Keep the members' probabilities of the training rows."""
        self._proba = detector.member_proba(X)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return `n` candidates, those selected jointly first."""
        if self._proba is None:
            raise SettingError(
                "batch-bald needs the members of a detector: use it in a session, or call "
                "set_detector."
            )
        n = min(n, len(candidates))
        proba = self._proba[:, candidates].clip(MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        information = mutual_information(proba)
        kept = np.sort(_draw(information, np.arange(len(candidates)), self.max_candidates, rng))
        n_joint = min(n, len(kept), self.max_joint)
        joint = kept[select_jointly(proba[:, kept], n_joint, rng)]
        others = np.setdiff1d(np.arange(len(candidates)), joint, assume_unique=True)
        drawn = _draw(information, others, n - len(joint), rng)
        return np.asarray(candidates[np.concatenate([joint, drawn])])


def binary_entropy(proba: Floats) -> Floats:
    """Return the entropy of a label in nats."""
    return np.asarray(entr(proba) + entr(1 - proba))


def mutual_information(proba: Floats) -> Floats:
    """Return the mutual information between each label and the predicting member, in nats (BALD).

    `proba` has the shape (members, rows).
    """
    return np.asarray(binary_entropy(proba.mean(axis=0)) - binary_entropy(proba).mean(axis=0))


def select_jointly(proba: Floats, n: int, rng: Rng) -> list[int]:
    """Select up to `n` rows greedily by the joint mutual information of BatchBALD.

    `proba` holds each member's outlier probability of each row. Fewer rows are returned if their
    joint mutual information reaches `SATURATION`, or if no other row adds to it.
    """
    n_members = len(proba)
    own_entropy = binary_entropy(proba).mean(axis=0)
    # P(configuration | member) of the labels of the selected rows: (configurations, members).
    likelihood = np.ones((1, n_members))
    member: Indices | None = None  # of each configuration that was sampled
    selected: list[int] = []
    spent = 0.0  # conditional entropy of the selected rows
    for _ in range(n):
        is_sample = member is not None
        increased = _joint_entropy(likelihood, proba, is_sample=is_sample) - own_entropy
        increased[selected] = -np.inf
        best = int(increased.argmax())
        # The entropy of the selected rows alone: a label that is certain adds nothing.
        [before] = _joint_entropy(likelihood, np.zeros((n_members, 1)), is_sample=is_sample)
        if increased[best] - before <= MIN_INFORMATION:
            break
        selected.append(best)
        if increased[best] - spent >= SATURATION * math.log(n_members):
            break
        spent += own_entropy[best]
        outlier = proba[:, best]
        if member is None and 2 * len(likelihood) <= N_CONFIGURATIONS:
            likelihood = np.concatenate([likelihood * outlier, likelihood * (1 - outlier)])
            continue
        new = selected[-1:]
        if member is None:  # sample the labels of all rows so far, evenly over the members
            member = np.arange(N_CONFIGURATIONS) % n_members
            likelihood, new = np.ones((N_CONFIGURATIONS, n_members)), selected
        for row in new:
            is_outlier = rng.random(N_CONFIGURATIONS) < proba[member, row]
            likelihood = likelihood * np.where(
                is_outlier[:, None], proba[:, row], 1 - proba[:, row]
            )
    return selected


def _joint_entropy(likelihood: Floats, proba: Floats, *, is_sample: bool) -> Floats:
    """Return the entropy of the labels of the selected rows and of each further row."""
    n_members = len(proba)
    before = likelihood.mean(axis=1, keepdims=True)
    outlier = likelihood @ proba / n_members  # P(configuration, the row is an outlier)
    inlier = (likelihood @ (1 - proba)) / n_members
    weights = 1 / (len(likelihood) * before) if is_sample else 1.0
    return np.asarray(((entr(outlier) + entr(inlier)) * weights).sum(axis=0))


def _draw(information: Floats, rows: Indices, n: int, rng: Rng) -> Indices:
    """Draw up to `n` rows, proportional to their mutual information (PowerBALD)."""
    keys = np.log(np.maximum(information[rows], MIN_INFORMATION)) + rng.gumbel(size=len(rows))
    return rows[np.argsort(-keys, kind="stable")[: max(n, 0)]]
