"""What the modes of the language model's planner have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

import jinja2

from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.planner.known_world import KnownWorld
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.plan_audit import PlanAudit
from memory_node.planner.planner import PlannedStep, Situation
from memory_node.planner.planner_config import LlmConfig

# Returns why it ended early, "" where the model holds that all is done.
Steps = Generator[PlannedStep, SkillResult, str]


@dataclass(frozen=True)
class Task:
    """One instruction for a language model.

    audit: what its goals let a plan take. unmet: what of its goals is not so yet, by memory; empty where nothing is
    amiss. settled: memory's ids of what is as and where a goal wants it. goal_index: of the first goal that is not so
    yet, their number where all are.
    """

    instruction: str
    goals: tuple[str, ...]
    situation: Situation
    world: KnownWorld
    config: LlmConfig
    prompts: jinja2.Environment
    account: ModelAccount
    audit: PlanAudit
    unmet: Callable[[], Sequence[str]]
    settled: Callable[[], Collection[str]]
    goal_index: Callable[[], int]

    def refresh(self) -> None:
        """Let the world follow memory."""
        held = self.situation.memory.held_object()
        held_id, held_class = (held.object_id, held.object_class) if held is not None else ("", "")
        self.world.refresh(self.situation.memory.scene(), held_id, held_class)

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
