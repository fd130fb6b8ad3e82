"""What the modes of the language model's planner have in common."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Protocol

import jinja2

from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.planner.goal import Goal
from memory_node.planner.goal_check import GoalCheck, Judgement
from memory_node.planner.goal_history import GoalHistory
from memory_node.planner.known_world import KnownWorld
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.plan_audit import PlanAudit
from memory_node.planner.planner import PlannedStep, PlanningContext
from memory_node.planner.planner_config import LlmConfig

# Returns why it ended early, "" where the model holds that all is done.
Steps = Generator[PlannedStep, SkillResult, str]


@dataclass(frozen=True)
class Task:
    """What is asked of a language model in one dialogue: an instruction, or the words of one of its goals.

    audit: what its goals let a plan take. first_goal: the index of the first among those of the whole instruction.
    completed: what was done before, in words. set_aside: identities of things that the words do not mean. meant:
    of those that "it" means.
    """

    instruction: str
    goals: tuple[Goal, ...]
    situation: PlanningContext
    world: KnownWorld
    config: LlmConfig
    prompts: jinja2.Environment
    account: ModelAccount
    audit: PlanAudit
    first_goal: int = 0
    completed: str = ""
    set_aside: frozenset[str] = frozenset()
    meant: frozenset[str] = frozenset()
    history: GoalHistory = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "history", GoalHistory(self.goals, self.world.kinds))

    def refresh(self) -> None:
        """Let the world follow memory."""
        self.world.refresh(self.situation.scene(), self.situation.memory.held_object())

    def follow(self, result: SkillResult) -> None:
        """Take note of how a skill ended; what it has changed counts, whatever memory makes of it."""
        self.world.follow(result, self.situation.memory_ids)

    def watch(self) -> None:
        """Note which goals are met now; a later one may take back what an earlier one brought about."""
        self.history.watch(self._check())

    def judged(self) -> Judgement:
        """Return what of the goals is so, by memory and by what the robot found in this instruction."""
        return self.history.judge(self._check())

    def _check(self) -> GoalCheck:
        state = self.world.episode.refresh(self.situation.scene(), self.situation.memory.held_object())
        # Another apple that has been on the table all along is not "it".
        spoken_of = {thing.object_class for thing in state if thing.identities & self.meant}
        others = [one for one in state if one.object_class in spoken_of and not one.identities & self.meant]
        return GoalCheck(replace(state, things={one.id: one for one in state if one not in others}))

    def prompt(self, template: str, **values: object) -> str:
        """Return a filled template of config/prompts."""
        return self.prompts.get_template(template).render(**values)


class ModelRun(Protocol):
    """One way to have an instruction carried out by a model. begun: whether the robot has done anything."""

    begun: bool

    def steps(self) -> Steps:
        """Yield the steps.

        Raises:
            LlmError: the model said nothing that can be used.
        """


def remedy_of(failed: SkillResult) -> str:
    """Return what usually helps against a failure, "" where nothing is known to."""
    rules = SKILLS[failed.call.skill].preconditions
    return next((rule.remedy for rule in rules if rule.reason is failed.reason), "")


def described(failed: SkillResult) -> str:
    """Return a failed skill in words."""
    return f"{failed.call} failed: {failed.reason} {failed.message}".rstrip()
