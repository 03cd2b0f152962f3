"""The paper's experiment: protocol, plan, runner, tables and report."""

from imboost.benchmark.budget import Budget
from imboost.benchmark.plan import Method, Plan, make_plan
from imboost.benchmark.protocol import RoundResult, RunSpec, run
from imboost.benchmark.results import ResultFile
from imboost.benchmark.runner import run_all
from imboost.benchmark.settings import Settings

__all__ = [
    "Budget",
    "Method",
    "Plan",
    "ResultFile",
    "RoundResult",
    "RunSpec",
    "Settings",
    "make_plan",
    "run",
    "run_all",
]
