"""The paper's experiment: run it, analyse the results and report on them."""

from imboost.benchmark.run.budget import Budget
from imboost.benchmark.run.plan import Method, Plan, make_plan
from imboost.benchmark.run.protocol import RoundResult, RunLine, RunSpec, run
from imboost.benchmark.run.results import ResultFile
from imboost.benchmark.run.runner import run_all
from imboost.benchmark.run.settings import Settings

__all__ = [
    "Budget",
    "Method",
    "Plan",
    "ResultFile",
    "RoundResult",
    "RunLine",
    "RunSpec",
    "Settings",
    "make_plan",
    "run",
    "run_all",
]
