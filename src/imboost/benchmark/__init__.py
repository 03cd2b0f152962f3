"""The paper's experiment: protocol, plan, runner, tables and report."""

from imboost.benchmark.run.budget import Budget
from imboost.benchmark.run.plan import Method, Plan, make_plan
from imboost.benchmark.run.protocol import RoundResult, RunSpec, run
from imboost.benchmark.run.results import ResultFile
from imboost.benchmark.run.runner import run_all
from imboost.benchmark.run.settings import Settings

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
