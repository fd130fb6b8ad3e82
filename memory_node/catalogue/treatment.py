"""What a verb asks for: the skill, where it is done, with which tool, in which vessel ("toast" needs a toaster)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.goal_labels import GOAL_OF_SKILL, GoalKind
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState

# Many verbs name a thing as well ("toast", "microwave"): they are verbs before an object and at the start of a command.
_BEFORE_OBJECT = r"(?=\s+(?:the|a|an|it|some|one|two|both|them|my)\b)"
_OPENING = r"(?:^|[,.;:]\s*|\b(?:please|and|then)\s+)"


@dataclass(frozen=True)
class Treatment:
    """One way to treat a thing.

    skill: what carries it out. verbs: how a command begins ("warm", "warm up"). said: other words that speak of it; a
    final * stands for any ending. at: classes of places where it is done, the best first; tools: classes of what the
    hand holds meanwhile; vessels: classes of what the thing lies in meanwhile. pieces: what can be sliced is cut first.
    states: what it brings about, the skill's declared state first.
    """

    name: str
    skill: str
    verbs: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    vessels: tuple[str, ...] = ()
    pieces: bool = False
    states: tuple[ObjectState, ...] = ()

    def __post_init__(self) -> None:
        if self.skill not in GOAL_OF_SKILL:
            known = ", ".join(GOAL_OF_SKILL)
            raise InvalidValueError(f"{self.name}: skill: expected one of {known}, got {self.skill!r}")
        declared = declared_state(self.skill)
        if self.states[:1] != (declared,):
            raise InvalidValueError(f"{self.name}: states: {self.skill} brings about {declared}, which comes first")

    @property
    def goal(self) -> GoalKind:
        """The kind of goal that it fulfils."""
        return GOAL_OF_SKILL[self.skill]

    def is_spoken_of(self, text: str) -> bool:
        """Return whether a text has a word for it."""
        return self._pattern.search(text) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        alternatives = [rf"\b(?:{_any_of(self.said)})\b"] if self.said else []
        if self.verbs:
            verbs = rf"(?:{_any_of(self.verbs)})\b"
            alternatives += [rf"\b{verbs}{_BEFORE_OBJECT}", rf"{_OPENING}{verbs}(?=\s+\w)"]
        return re.compile("|".join(alternatives) or r"(?!)", re.IGNORECASE)


def declared_state(skill: str) -> ObjectState:
    """Return the state that a skill of `GOAL_OF_SKILL` is declared to bring about first."""
    effects = (fact for fact in SKILLS[skill].effects if fact.predicate is Predicate.STATE and fact.value)
    return next(fact.state for fact in effects if fact.state is not None)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for word in words)
