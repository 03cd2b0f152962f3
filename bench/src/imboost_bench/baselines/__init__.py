"""Detectors and query strategies that only serve comparison, by name."""

from imboost.detectors import make_detector
from imboost_bench.baselines.registry import DETECTORS, STRATEGIES, make_strategy

__all__ = ["DETECTORS", "STRATEGIES", "make_detector", "make_strategy"]
