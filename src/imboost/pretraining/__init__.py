"""Pretraining of the in-context learner on synthetic tables.

No real data set takes part: tables, outliers and answers are drawn at random, and checkpoints
are compared on synthetic tables as well. `python -m imboost.pretraining --help` shows the command.
"""

from imboost.pretraining.settings import PretrainingSettings
from imboost.pretraining.tasks import Task, draw_tasks
from imboost.pretraining.training import pretrain

__all__ = ["PretrainingSettings", "Task", "draw_tasks", "pretrain"]
