"""Every detector has the interface of `Detector`; mypy checks the assignment below."""

from __future__ import annotations

import pytest

from imboost import (
    AAD,
    ALTBI,
    ODIM,
    XGBOD,
    DeepSAD,
    DeepSVDD,
    Detector,
    IMBoost,
    Pine,
    Stack,
    TableDetector,
    Trees,
)
from imboost.detectors import DETECTORS

ALL: list[Detector] = [
    AAD(),
    ALTBI(),
    DeepSAD(),
    DeepSVDD(),
    IMBoost(),
    ODIM(),
    Pine(),
    Stack(),
    TableDetector(),
    Trees(),
    XGBOD(),
]


def test_mypy_checks_every_registered_detector() -> None:
    registered = {type(make()) for make in DETECTORS.values()}
    assert registered | {TableDetector} == {type(detector) for detector in ALL}


@pytest.mark.parametrize("detector", ALL, ids=lambda detector: type(detector).__name__)
def test_a_detector_has_every_method_of_the_protocol(detector: Detector) -> None:
    names = {name for name, member in vars(Detector).items() if callable(member)}
    methods = {name for name in names if not name.startswith("_")}
    assert {"fit", "refine", "predict_proba"} <= methods
    assert all(callable(getattr(detector, name)) for name in methods)
