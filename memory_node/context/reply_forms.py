"""What a model that compiles may reply at one step: a JSON object, or a choice by numbers for a small model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from memory_node.context.brief_state import BriefState, Delete, Operation, Section
from memory_node.context.guidance import Delivery
from memory_node.llm.errors import RejectedReplyError

_MOST_OPERATIONS = 8
MOST_USED = 3
# Of these sections a choice may forget items; the others are the task itself.
_FORGOTTEN = (Section.LOCATIONS, Section.FACTS)
_CHOICE = re.compile(
    r"(?P<delivery>[a-z]+)(?: call (?P<call>\d+) because (?P<reason>\d+)(?: from(?P<entries>(?: \d+)+))?)?"
    r"(?: forget(?P<gone>(?: \d+)+))?"
)


class SaidCompilation(BaseModel):
    """A reply. goal, reason and entries are "" and empty where no guidance is delivered."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    delivery: Delivery
    goal: str = ""
    reason: str = ""
    entries: tuple[int, ...] = ()
    delta: Annotated[tuple[Operation, ...], Field(max_length=_MOST_OPERATIONS)] = ()


def reply_schema(goals: Sequence[str], beliefs: Sequence[str], entries: int, changes: bool) -> type[BaseModel]:
    """Return the schema of replies at one step. It lists everything that may be named, so that a grammar can enforce
    it.

    entries: how many were shown. changes: whether the reply may change the brief state.
    """
    index: Any = Literal[tuple(range(entries))] if entries else int
    fields: dict[str, Any] = {
        "delivery": (Literal[tuple(str(one) for one in Delivery)], ...),
        "goal": (Literal[tuple(dict.fromkeys(("", *goals)))], ...),
        "reason": (Literal[tuple(dict.fromkeys(("", *beliefs)))], ...),
        "entries": (Annotated[list[index], Field(max_length=min(entries, MOST_USED))], ...),
    }
    if changes:
        fields["delta"] = (Annotated[list[Operation], Field(max_length=_MOST_OPERATIONS)], ...)
    return create_model("Compilation", **fields)


@dataclass(frozen=True)
class Choices:
    """What may be chosen at one step, each by its number: "hybrid call 2 because 5 from 0 forget 6".

    calls: that guidance may name. beliefs: the items of the brief state. gone: those of them that may be forgotten.
    entries: how many were shown.
    """

    calls: tuple[str, ...]
    beliefs: tuple[str, ...]
    gone: tuple[str, ...]
    entries: int

    @classmethod
    def of(cls, calls: Sequence[str], state: BriefState, entries: int) -> Choices:
        """Return the choices among calls and the items of a state."""
        beliefs = tuple(dict.fromkeys(text for section in Section for text in state.items(section)))
        gone = tuple(text for section in _FORGOTTEN for text in state.items(section))
        return cls(tuple(calls), beliefs, gone, entries)

    @property
    def grammar(self) -> str:
        """The grammar (GBNF) of a choice: it holds nothing that is not there."""
        advises, forgets = bool(self.calls and self.beliefs), bool(self.gone)
        outputs = ['"noaction"', '"experience" go' * advises, '"brief" drop' * forgets]
        outputs.append('"hybrid" go drop' * (advises and forgets))
        rules = [f"root ::= {' | '.join(filter(None, outputs))}"]
        if advises:
            source = f' (" from" (" " entry){{1,{MOST_USED}}})?' if self.entries else ""
            rules += [f'go ::= " call " call " because " line{source}', f"call ::= {_numbers(range(len(self.calls)))}"]
            rules += [f"line ::= {_numbers(range(len(self.beliefs)))}"]
            rules += [f"entry ::= {_numbers(range(self.entries))}"] if self.entries else []
        if forgets:
            rules += [f'drop ::= " forget" (" " gone){{1,{_MOST_OPERATIONS}}}']
            rules += [f"gone ::= {_numbers(map(self.beliefs.index, self.gone))}"]
        return "\n".join(rules)

    def read(self, text: str, state: BriefState) -> SaidCompilation:
        """Return what a choice says.

        Raises:
            RejectedReplyError: it is none, or a number stands for nothing.
        """
        found = _CHOICE.fullmatch(text.strip())
        if found is None or found["delivery"] not in map(str, Delivery):
            raise RejectedReplyError("form", f"{text[:80]!r} is no choice such as 'experience call 0 because 1'")
        delivery = Delivery(found["delivery"])
        advises, forgets = found["call"] is not None, found["gone"] is not None
        wanted = (delivery in (Delivery.EXPERIENCE, Delivery.HYBRID), delivery in (Delivery.BRIEF, Delivery.HYBRID))
        if (advises, forgets) != wanted:
            raise RejectedReplyError("form", f"{delivery} wants a call: {wanted[0]}, lines to forget: {wanted[1]}")
        try:
            goal, reason = (self.calls[int(found["call"])], self.beliefs[int(found["reason"])]) if advises else ("", "")
            gone = dict.fromkeys(self.beliefs[int(number)] for number in (found["gone"] or "").split())
            sections = {text: section for section in _FORGOTTEN for text in state.items(section)}
            delta = tuple(Delete(section=sections[text], text=text) for text in gone)
        except (IndexError, KeyError):
            raise RejectedReplyError("number", f"{text[:80]!r} has a number that stands for nothing here") from None
        if len(delta) > _MOST_OPERATIONS:
            raise RejectedReplyError("number", f"at most {_MOST_OPERATIONS} lines may be forgotten, not {len(delta)}")
        entries = tuple(map(int, (found["entries"] or "").split()))
        return SaidCompilation(delivery=delivery, goal=goal, reason=reason, entries=entries, delta=delta)


def _numbers(numbers: Iterable[int]) -> str:
    return " | ".join(f'"{number}"' for number in sorted(set(numbers)))
