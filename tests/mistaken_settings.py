"""Mistakes in settings that mypy reports: here, a `type: ignore` without one is an error."""

from imboost import IMBoost, Stack, TableDetector


def make_mistakes() -> None:
    Stack(n_tree=3)  # type: ignore[call-arg]
    IMBoost(n_members="three")  # type: ignore[arg-type]
    TableDetector(role={})  # type: ignore[call-arg]
