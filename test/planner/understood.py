"""What a language model's planner is given beside the model, with goals that are read already."""

from collections.abc import Sequence

from memory_node.planner.goal import Goal
from memory_node.planner.planner import PlanningContext, PlanRun
from memory_node.planner.reading.understanding import Understanding


class Understood:
    """Reads the same goals in every instruction and does nothing else."""

    def __init__(self, *goals: Goal) -> None:
        self._goals = goals

    def read(self, instruction: str, situation: PlanningContext) -> Understanding:
        return Understanding(self._goals)

    def objection(self, instruction: str, goals: Sequence[Goal], situation: PlanningContext) -> str:
        return ""

    def achieve(self, goals: Sequence[Goal], situation: PlanningContext) -> PlanRun:
        raise AssertionError("the model is to carry it out")
