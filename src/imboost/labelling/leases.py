"""Which person an open question is shown to, so that two people do not answer it by accident."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import RLock
from time import monotonic


@dataclass
class Leases:
    """Leases of questions, in memory: after a restart every question is free again.

    A question comes back to everybody after some `seconds` without an answer. The `lock` is to be
    held by who reads the open questions and then takes one of them.
    """

    seconds: float = 600.0
    clock: Callable[[], float] = monotonic
    lock: RLock = field(default_factory=RLock)
    _leases: dict[int, tuple[str, float]] = field(default_factory=dict)  # person, time
    _passed: dict[str, list[int]] = field(default_factory=dict)

    def take(self, questions: Iterable[int], who: str) -> int | None:
        """Lease the first question that is free for a person, or the one that person has.

        Questions that the person passed over come last.
        """
        available = [row for row in questions if self._holder(row) in (None, who)]
        if not available:
            return None
        passed = self._passed.get(who, [])
        row = min(
            available,
            key=lambda row: (passed.index(row) if row in passed else -1, self._holder(row) != who),
        )
        if self._holder(row) != who:
            self._leases[row] = (who, self.clock())
        return row

    def pass_over(self, row: int, who: str) -> None:
        """Give a question back; the person sees it again after all others."""
        with self.lock:
            if not self.is_held_by_other(row, who):
                self.release([row])
            self._forget_pass(row, who)
            self._passed.setdefault(who, []).append(row)

    def lease(self, row: int, who: str) -> None:
        """Show a particular question to a person, in place of the one on screen."""
        self.release([other for other, (holder, _) in self._leases.items() if holder == who])
        self._leases[row] = (who, self.clock())
        self._forget_pass(row, who)

    def release(self, rows: Iterable[int]) -> None:
        """Free questions, for instance because they have an answer."""
        with self.lock:
            for row in rows:
                self._leases.pop(row, None)

    def seconds_held(self, row: int, who: str) -> float | None:
        """Return how long a person has had a question; None if somebody else has it."""
        holder, since = self._leases.get(row, (None, 0.0))
        return self.clock() - since if holder == who else None

    def is_held_by_other(self, row: int, who: str) -> bool:
        """Whether another person has the question at present."""
        return self._holder(row) not in (None, who)

    def n_free(self, questions: Iterable[int]) -> int:
        """Return how many questions nobody has at present."""
        return sum(self._holder(row) is None for row in questions)

    def _forget_pass(self, row: int, who: str) -> None:
        if row in self._passed.get(who, []):
            self._passed[who].remove(row)

    def _holder(self, row: int) -> str | None:
        holder, since = self._leases.get(row, (None, 0.0))
        return None if self.clock() - since > self.seconds else holder
