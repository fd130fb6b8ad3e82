"""What an instruction asks for, in the planner's own terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState


@dataclass(frozen=True)
class Mention:
    """A thing as an instruction speaks of it.

    text: the words. candidates: classes that they may mean, likeliest first; () when nothing fits. states: what the
    words say of it already ("the clean ..."). another: explicitly not the one just handled; of a place: not where the
    target is now. referring: it was spoken of before. original_place: it stands for where the target was at first
    ("back where it belongs"). beside: not in or on it, but where it stands itself. guessed: nothing is called so; what
    is most like the words was taken. stand_ins: classes that may take its part where none of the candidates is found.
    room: that it is in, and of a place that the words leave to the robot, which has no candidates. on: classes of what
    it is on or in, () for anything; no other thing is meant. thing_id: memory's id of the one thing that is meant, ""
    for any that fits. looks: stems of what else was said of it, of which its description has some; empty: nothing.
    """

    text: str
    candidates: tuple[str, ...] = ()
    states: tuple[ObjectState, ...] = ()
    another: bool = False
    referring: bool = False
    original_place: bool = False
    beside: bool = False
    guessed: bool = False
    stand_ins: tuple[str, ...] = ()
    room: str = ""
    on: tuple[str, ...] = ()
    thing_id: str = ""
    looks: frozenset[str] = frozenset()

    @property
    def object_class(self) -> str:
        """The likeliest class, or "" when nothing fits."""
        return self.candidates[0] if self.candidates else ""

    def __str__(self) -> str:
        return self.object_class or self.text


@dataclass(frozen=True)
class Goal:
    """One thing to be achieved; see GoalKind.

    text: the words that ask for it. count: how many targets; every: all that there are. sliced: pieces of it.
    treatment: the catalogue's that the words name, "" for the usual one of the kind. asked: what TELL is to answer:
    "place", "contents", "count", "exists" or a state's word.
    """

    kind: GoalKind
    target: Mention
    destination: Mention | None = None
    container: Mention | None = None
    light: Mention | None = None
    sliced: bool = False
    count: int = 1
    every: bool = False
    asked: str = ""
    text: str = ""
    treatment: str = ""

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Everything that it speaks of."""
        parts = (self.target, self.destination, self.container, self.light)
        return tuple(one for one in parts if one is not None)

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidValueError(f"Goal.count: expected at least 1, got {self.count}")

    def with_mentions(self, meant: Callable[[Mention], Mention]) -> Goal:
        """Return it with what its target and destination mean."""
        destination = self.destination and meant(self.destination)
        return replace(self, target=meant(self.target), destination=destination)

    def changed(self, **changes: Any) -> Goal:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)

    def __str__(self) -> str:
        quantity = "" if self.asked else "all" if self.every else f"{self.count} x" if self.count > 1 else ""
        words = [str(self.kind), quantity, "sliced" if self.sliced else "", str(self.target), self.asked]
        words += [f"in {self.container}"] if self.container else []
        words += [f"to {self.destination}"] if self.destination else []
        words += [f"with {self.light}"] if self.light else []
        return " ".join(word for word in words if word)
