"""The brief state b_t of an episode: how far the task is, and what is believed of the home (MemCompiler); and how it
changes: b_{t+1} = Apply(delta, b_t), with typed operations.

All of it is text, as `beliefs.py` writes it, so that a language model can read and change it, and an operation can
match an item exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

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


# A section with more items than this is folded.
FOLD_OVER = 10

_Text = Annotated[str, Field(min_length=1, max_length=MAX_ITEM)]


class InvalidDeltaError(InvalidValueError):
    """An operation does not fit the state that it was to change; nothing of its delta was applied."""


class _Operation(BaseModel):
    """Base of the operations: frozen, and nothing that was not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Create(_Operation):
    """Add an item to a section."""

    op: Literal["create"] = "create"
    section: Section
    text: _Text


class Update(_Operation):
    """Put one item in another's place. old: the item's text, exactly."""

    op: Literal["update"] = "update"
    section: Section
    old: _Text
    text: _Text


class Delete(_Operation):
    """Take an item out. text: exactly."""

    op: Literal["delete"] = "delete"
    section: Section
    text: _Text


class Fold(_Operation):
    """Take items out of a section, exactly as they stand there, and keep one fact in their place.

    So a finished subgoal becomes a belief, and a section that has grown long becomes short.
    """

    op: Literal["fold"] = "fold"
    section: Section
    texts: Annotated[tuple[_Text, ...], Field(min_length=1)]
    into: _Text


Operation = Annotated[Create | Update | Delete | Fold, Field(discriminator="op")]
Delta = tuple[Create | Update | Delete | Fold, ...]
_DELTA: TypeAdapter[Delta] = TypeAdapter(tuple[Operation, ...])


def apply(delta: Sequence[Create | Update | Delete | Fold], state: BriefState) -> BriefState:
    """Return the state after all operations of a delta, in order.

    Raises:
        InvalidDeltaError: an item to change is not there, one to add is there already, or the result is no state.
    """
    for operation in delta:
        try:
            state = _applied(operation, state)
        except InvalidDeltaError:
            raise
        except InvalidValueError as error:
            raise InvalidDeltaError(f"{operation.op}: {error}") from None
    return state


def _applied(operation: Create | Update | Delete | Fold, state: BriefState) -> BriefState:
    section = operation.section
    items = state.items(section)
    if isinstance(operation, Create):
        return state.with_items(section, (*items, operation.text))
    if isinstance(operation, Fold):
        _check_there(operation.texts, items, operation)
        state = state.with_items(section, tuple(text for text in items if text not in operation.texts))
        facts = state.items(Section.FACTS)
        return state if operation.into in facts else state.with_items(Section.FACTS, (*facts, operation.into))
    old = operation.old if isinstance(operation, Update) else operation.text
    _check_there((old,), items, operation)
    new = (operation.text,) if isinstance(operation, Update) else ()
    return state.with_items(section, tuple(text for one in items for text in (new if one == old else (one,))))


def _check_there(texts: Iterable[str], items: tuple[str, ...], operation: Create | Update | Delete | Fold) -> None:
    for text in texts:
        if text not in items:
            raise InvalidDeltaError(f"{operation.op}: {operation.section} has no item {text!r}")


def delta_to_rows(delta: Delta) -> list[dict[str, Any]]:
    """Return plain values, as JSON takes them."""
    return [operation.model_dump(mode="json") for operation in delta]


def delta_from_rows(rows: Sequence[Any]) -> Delta:
    """Return the delta of plain values.

    Raises:
        InvalidDeltaError: they are no operations.
    """
    try:
        return _DELTA.validate_python(tuple(rows))
    except ValidationError as error:
        raise InvalidDeltaError(f"a delta: {error.error_count()} error(s), {error.errors()[0]['msg']}") from None
