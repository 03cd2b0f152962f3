"""Every detector has the interface of `Detector`.

mypy checks the users of the protocol, but not the detectors: their base class, scikit-learn's
BaseEstimator, has no types, so mypy accepts them for any protocol.
"""

from inspect import Parameter, signature

import pytest

from imboost import Detector, TableDetector
from imboost.detectors import DETECTORS

CLASSES = [*sorted({type(make()) for make in DETECTORS.values()}, key=repr), TableDetector]
METHODS = [name for name in vars(Detector) if not name.startswith("_")]
METHODS = [
    name
    for name in METHODS
    if callable(getattr(Detector, name)) and name not in ("get_params", "set_params")
]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_detector_has_the_methods_of_the_protocol(kind, name):
    promised, found = signature(getattr(Detector, name)), signature(getattr(kind, name))
    for parameter in promised.parameters.values():
        own = found.parameters[parameter.name]
        assert (own.kind, own.default) == (parameter.kind, parameter.default)
    more = [found.parameters[one] for one in found.parameters.keys() - promised.parameters.keys()]
    assert all(parameter.default is not Parameter.empty for parameter in more)
    assert found.return_annotation == promised.return_annotation


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_detector_has_the_attributes_of_the_protocol(kind, planted):
    names = Detector.__annotations__
    assert {"decision_scores_", "threshold_", "default_query"} <= set(names)
    detector = kind(random_state=0).fit(planted.X[:60])
    assert all(hasattr(detector, name) for name in names)
