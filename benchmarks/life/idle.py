"""The player that does nothing: it must pass no day."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.life import day_form as form
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import PlanOutcome, PlanProgress


class IdlePlayer:
    """Does and says nothing."""

    def execute(
        self, words: str, goals: Sequence[form.GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Return at once; see Player."""
        return InstructionResult(words, PlanOutcome((words,), (False,), planner="idle"), (), ())

    def restart(self) -> None:
        """Do nothing."""
