"""Pretraining of the in-context learner on synthetic tables.

No real data set takes part: tables, outliers and answers are drawn at random, and checkpoints
are compared on synthetic tables as well. `python -m imboost_bench.pretraining --help` shows the
command.
"""

from imboost_bench.pretraining.settings import PretrainingSettings
from imboost_bench.pretraining.tasks import Task, draw_tasks
from imboost_bench.pretraining.training import pretrain

__all__ = ["PretrainingSettings", "Task", "draw_tasks", "pretrain"]
