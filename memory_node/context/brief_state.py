"""The brief state b_t of an episode: how far the task is, and what is believed of the home (MemCompiler).

All of it is text, as `beliefs.py` writes it, so that a language model can read and change it, and an operation can
match an item exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.text_enum import TextEnum

# Most characters of an item: a belief is one short sentence.
MAX_ITEM = 400


class Section(TextEnum):
    """A part of the brief state that holds items."""

    GOAL = "goal"
    COMPLETED = "completed"
    CURRENT = "current"
    PENDING = "pending"
    LOCATIONS = "locations"
    AGENT = "agent"
    FACTS = "facts"

    @property
    def is_single(self) -> bool:
        """Whether it holds one item at most."""
        return self in (Section.GOAL, Section.CURRENT)


@dataclass(frozen=True)
class BriefState:
    """b_t. A section holds an item once.

    goal: the instruction. The subgoals are completed, current ("" for none) and pending. locations: of objects; agent:
    where the robot is and what it holds; facts: what else is believed of the home.

    Raises:
        InvalidValueError: an item is empty, is there twice, has several lines or is longer than MAX_ITEM characters.
    """

    goal: str = ""
    completed: tuple[str, ...] = ()
    current: str = ""
    pending: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for section in Section:
            items = self.items(section)
            if len(set(items)) != len(items):
                raise InvalidValueError(f"BriefState.{section}: an item is there twice: {items}")
            for text in items:
                if not text.strip() or len(text) > MAX_ITEM or "\n" in text:
                    raise InvalidValueError(
                        f"BriefState.{section}: expected one line of 1 to {MAX_ITEM} characters, got {text[:80]!r}"
                    )

    def items(self, section: Section) -> tuple[str, ...]:
        """Return the items of a section."""
        value: str | tuple[str, ...] = getattr(self, section.value)
        if isinstance(value, str):
            return (value,) if value else ()
        return value

    def with_items(self, section: Section, items: tuple[str, ...]) -> BriefState:
        """Return the state with other items in a section.

        Raises:
            InvalidValueError: several items for a section that holds one.
        """
        if section.is_single and len(items) > 1:
            raise InvalidValueError(f"BriefState.{section}: it holds one item, got {items}")
        value: Any = next(iter(items), "") if section.is_single else items
        return replace(self, **{section.value: value})

    def lines(self) -> tuple[str, ...]:
        """Return it in words: a line for each section that holds something."""
        return tuple(f"{_TITLES[one]}: {'; '.join(self.items(one))}" for one in Section if self.items(one))

    @property
    def text(self) -> str:
        """Its lines as one text."""
        return "\n".join(self.lines())


_TITLES = {
    Section.GOAL: "Goal",
    Section.COMPLETED: "Done",
    Section.CURRENT: "Now",
    Section.PENDING: "Later",
    Section.LOCATIONS: "Places",
    Section.AGENT: "Robot",
    Section.FACTS: "Known",
}
