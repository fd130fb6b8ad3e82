"""Executed skills as the steps that experience keeps: a robot's own ids become classes, so that episodes compare."""

from __future__ import annotations

from memory_node.domain.clock import Clock
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import StepRecord
from memory_node.planner.executor import ExecutedStep


class StepRecorder:
    """Numbers the steps of one episode after the other and follows what the hand holds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._classes: dict[str, str] = {}
        self._held = ""
        self._episode_id = ""
        self._count = 0

    def begin(self, episode_id: str) -> None:
        """Count from 0 again; what the hand holds stays."""
        self._episode_id = episode_id
        self._count = 0

    def step(self, executed: ExecutedStep) -> StepRecord:
        """Return the next step of the episode."""
        result = executed.result
        for change in result.changes:
            self._classes[change.object_id] = change.object_class
            if change.held is not None:
                self._held = change.object_class if change.held else ""
        if result.call.skill == "Explore" and result.object_id:
            self._classes[result.object_id] = result.call.arguments[0]
        arguments = tuple(self._classes.get(text, text) for text in result.call.arguments)
        step = StepRecord(
            episode_id=self._episode_id,
            index=self._count,
            action=SkillCall(result.call.skill, arguments),
            success=result.success,
            reason=result.reason,
            stamp_ns=self._clock(),
            message=result.message,
            held_object=self._held,
            duration_s=result.duration_s,
            distance_m=result.distance_m,
        )
        self._count += 1
        return step
