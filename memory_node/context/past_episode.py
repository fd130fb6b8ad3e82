"""What is kept of an episode, for people who look into memory."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.context.guidance import CompiledStep
from memory_node.context.told_contexts import ToldContext
from memory_node.domain.step import NO_COST, ModelCost, StepRecord


@dataclass(frozen=True)
class PastEpisode:
    """What is kept of an episode.

    steps: in order. compiled: what memory's compiler delivered at its last steps. contexts: those that a planner was
    sent and chose steps by. cost: of its language model. The last three are of this process only.
    """

    steps: tuple[StepRecord, ...] = ()
    compiled: tuple[CompiledStep, ...] = ()
    contexts: tuple[ToldContext, ...] = ()
    cost: ModelCost = NO_COST

    def __bool__(self) -> bool:
        return bool(self.steps or self.compiled or self.contexts or self.cost != NO_COST)
