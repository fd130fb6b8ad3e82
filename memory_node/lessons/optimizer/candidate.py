"""An optimizer, and its answer about an attempt: a memory, and whether it is new or replaces another one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.llm.chat import RejectedReplyError


@dataclass(frozen=True)
class Proposal:
    """What an optimizer answers. candidate: None where it has nothing to say. problem: why not, "" otherwise.
    tokens_in, tokens_out: what a language model read and wrote for it."""

    candidate: Candidate | None
    analysis: str = ""
    problem: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Optimizer(Protocol):
    """Decides what an attempt leaves in memory. is_quick: whether it answers at once, without a language model."""

    name: str
    is_quick: bool

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Return what to keep of an attempt. shown: the entries that its task retrieves, the nearest first; one of them
        may be replaced."""


# The longest memory, in letters; three of them have to fit into an executor's prompt.
MOST_LETTERS = 1200
_BLOCK = re.compile(
    r"<experience>\s*<value>(?P<value>.*?)</value>\s*<operation>(?P<operation>.*?)</operation>\s*</experience>",
    re.DOTALL,
)
_OPERATION = re.compile(r"ADD|UPDATE (?P<index>0|[1-9]\d{0,3})")
_FORM = "<experience><value>...</value><operation>ADD or UPDATE i</operation></experience>"
_TAGS = re.compile(r"</?(?:experience|value|operation)>")


@dataclass(frozen=True)
class Candidate:
    """A memory to take over. replaces: the place, from 0 on, of the shown entry whose place it takes; None: a new
    one."""

    value: str
    replaces: int | None = None

    @property
    def operation(self) -> str:
        """ADD, or UPDATE with a place."""
        return "ADD" if self.replaces is None else f"UPDATE {self.replaces}"

    def text(self, analysis: str = "") -> str:
        """Return the reply that says it."""
        block = f"<experience><value>{self.value}</value>" + f"<operation>{self.operation}</operation></experience>"
        return f"{analysis}\n{block}" if analysis else block


def read_candidate(text: str, shown: int) -> Candidate:
    """Return what a reply says: an analysis in free words, then exactly one block, then nothing.

    shown: how many entries it could name.

    Raises:
        RejectedReplyError: format (no such block, several, words after it, a broken operation, no value or one that is
            too long), or index (an entry that was not shown).
    """
    found = _BLOCK.search(text)
    if found is None:
        raise RejectedReplyError("format", f"expected {_FORM}")
    if len(_TAGS.findall(text)) != 6 or text[found.end() :].strip():
        raise RejectedReplyError("format", "expected one block at the end, and its tags nowhere else")
    value = " ".join(found["value"].split())
    if not value or len(value) > MOST_LETTERS:
        raise RejectedReplyError("format", f"the value has {len(value)} letters: expected 1 to {MOST_LETTERS}")
    operation = _OPERATION.fullmatch(found["operation"].strip())
    if operation is None:
        raise RejectedReplyError("format", f"operation {found['operation'][:40]!r}: expected ADD or UPDATE i")
    if operation["index"] is None:
        return Candidate(value)
    index = int(operation["index"])
    if index >= shown:
        raise RejectedReplyError("index", f"UPDATE {index}: {shown} entries were shown, numbered from 0")
    return Candidate(value, index)
