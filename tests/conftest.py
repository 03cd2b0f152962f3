import pytest
import torch

from browser_pages import browser, open_page  # noqa: F401  (fixtures)
from imboost.datasets import planted_outliers
from imboost_bench.baselines import DETECTORS
from postgres_server import postgres, postgres_server, store_url  # noqa: F401  (fixtures)

ONE_CLASS = {"pretrain_epochs": 3, "train_epochs": 3, "round_epochs": 2, "boundary_epochs": 1}
QUICK = {
    "imboost": {"plain_epochs": 2, "trimmed_epochs": 4, "round_epochs": 2, "label_rounds": 1},
    "altbi": {"plain_epochs": 2, "trimmed_epochs": 4, "averaged_epochs": 2},
    "odim": {"n_members": 2, "max_updates": 20, "check_every": 5},
    **dict.fromkeys(["oc", "sb", "oc-nce", "sb-nce"], ONE_CLASS),
    "dsad": {"pretrain_epochs": 3, "train_epochs": 3, "round_epochs": 2},
    "xgbod": {"n_trees": 10, "max_reference_rows": 100},
    "aad": {"n_trees": 20},
    "trees": {"n_trees": 20, "n_isolation_trees": 20},
    "stack": {"n_trees": 20, "n_isolation_trees": 20},
    "pretrained": {"n_isolation_trees": 20},
}
"""Settings that make a detector train in an instant, without regard to accuracy."""


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


DEEP = ("imboost", "altbi", "odim", "oc", "sb", "oc-nce", "sb-nce", "dsad")
"""Detectors that train a neural network."""


def make_quick(name, **settings):
    """Return a detector of the benchmark that trains in an instant."""
    return DETECTORS[name](**{**QUICK.get(name, {}), "random_state": 0, **settings})


@pytest.fixture(params=sorted(DETECTORS))
def quick_detector(request):
    return make_quick(request.param)


@pytest.fixture(scope="session")
def planted():
    return planted_outliers(300, 5, seed=1)
