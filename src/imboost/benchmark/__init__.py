"""The paper's experiment: protocol, runner, tables and report."""

from imboost.benchmark.protocol import RoundResult, RunSpec, run
from imboost.benchmark.results import ResultFile
from imboost.benchmark.runner import Plan, make_plan, run_all

__all__ = ["Plan", "ResultFile", "RoundResult", "RunSpec", "make_plan", "run", "run_all"]
