"""What is asked of a language model in one dialogue, what memory holds of it, and how its goals are judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jinja2

from memory_node.domain.skill import SkillResult
from memory_node.planner.goal import UNTOLD, Goal, GoalCheck, GoalHistory, Judgement
from memory_node.planner.known_world import KnownWorld
from memory_node.planner.planner import PlanningContext
from memory_node.planner.planner_config import LlmConfig, ModelAccount


@dataclass(frozen=True)
class Task:
    """An instruction, its goals, and the world that follows memory while it is carried out."""

    instruction: str
    goals: tuple[Goal, ...]
    situation: PlanningContext
    world: KnownWorld
    config: LlmConfig
    prompts: jinja2.Environment
    account: ModelAccount
    history: GoalHistory

    def with_goals(self, goals: Sequence[Goal]) -> Task:
        """Return it with other goals; what was met of the same ones stays met."""
        history = GoalHistory(goals, self.world.kinds, self.history)
        return replace(self, goals=tuple(goals), history=history)

    def told(self, text: str = "") -> list[str]:
        """Return what people told that binds in a text, the instruction by default, or bears on it; each once."""
        text, limits = text or self.instruction, self.situation.limits
        bound = limits.told_of(text) if limits is not None else []
        return list(dict.fromkeys([*bound, *self.situation.told(text)]))

    def refresh(self) -> None:
        """Let the world follow memory."""
        self.world.refresh(self.situation.scene(), self.situation.memory.held_object())

    def follow(self, result: SkillResult) -> None:
        """Take note of how a skill ended; what it has changed counts, whatever memory makes of it."""
        self.world.follow(result, self.situation.memory_ids)

    def watch(self) -> tuple[Goal, ...]:
        """Note which goals are met now; return those that were and are no longer, and no later one asks for it."""
        check = self._check()
        self.history.watch(check)
        return tuple(self.goals[index] for index in self.history.taken_back(check))

    def judged(self) -> Judgement:
        """Return what of the goals is so, by memory and by what the robot found in this instruction."""
        return self.history.judge(self._check())

    def is_met(self, goal: Goal) -> bool:
        """Return whether a goal is met now, False for what memory cannot tell."""
        return goal.kind not in UNTOLD and not self._check().unmet(goal)

    def _check(self) -> GoalCheck:
        return GoalCheck(self.world.episode.refresh(self.situation.scene(), self.situation.memory.held_object()))

    def prompt(self, template: str, **values: object) -> str:
        """Return a filled template of config/prompts."""
        return self.prompts.get_template(template).render(**values)
