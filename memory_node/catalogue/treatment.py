"""What a verb asks for: the skill, where it is done, with which tool, in which vessel ("toast" needs a toaster)."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.goal_labels import GOAL_OF_SKILL, GoalKind
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState


@dataclass(frozen=True)
class Treatment:
    """One way to treat a thing.

    skill: what carries it out. verbs: how a command begins ("warm", "warm up"). at: classes of places where it is done,
    the best first; tools: classes of what the hand holds; vessels: classes of what the thing lies in meanwhile.
    pieces: what can be sliced is cut first. states: what it brings about, the declared state of the skill first.
    """

    name: str
    skill: str
    verbs: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    vessels: tuple[str, ...] = ()
    pieces: bool = False
    states: tuple[ObjectState, ...] = ()

    def __post_init__(self) -> None:
        if self.skill not in GOAL_OF_SKILL:
            known = ", ".join(GOAL_OF_SKILL)
            raise InvalidValueError(f"{self.name}: skill: expected one of {known}, got {self.skill!r}")
        declared = SKILLS[self.skill].brings_about
        if self.states[:1] != (declared,):
            raise InvalidValueError(f"{self.name}: states: {self.skill} brings about {declared}, which comes first")

    @property
    def goal(self) -> GoalKind:
        """The kind of goal that it fulfils."""
        return GOAL_OF_SKILL[self.skill]
