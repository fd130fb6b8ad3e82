"""What an optimizer reads, one attempt at a task in words and over kinds of things; and what it answers: a memory, and
whether it is new or replaces another one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.domain.text_enum import TextEnum
from memory_node.episodes.class_actions import class_action, class_arguments
from memory_node.lessons.lesson import Lesson
from memory_node.llm.chat import RejectedReplyError


class DeedKind(TextEnum):
    """What an action does, whatever it is called."""

    TRAVEL = "travel"
    LOOK = "look"
    OPEN = "open"
    CLOSE = "close"
    TAKE = "take"
    PUT = "put"
    CHANGE = "change"  # to heat, to clean, to switch on


@dataclass(frozen=True)
class Deed:
    """One action. text: as it was given, with the names of instances. way: the same over kinds. verb: how the skill or
    command is called. thing, place: kinds, "" for none; the place of a TAKE is where the thing was. reply: what came
    back. failure: why it failed, "" where it worked. seen: kinds that came into view by it."""

    kind: DeedKind
    verb: str
    way: str
    thing: str = ""
    place: str = ""
    text: str = ""
    reply: str = ""
    failure: str = ""
    seen: tuple[str, ...] = ()

    @property
    def worked(self) -> bool:
        """Whether it did what it should."""
        return not self.failure


@dataclass(frozen=True)
class Attempt:
    """One attempt. query: the task's text. places: the kinds of places that were there to be looked at, as far as the
    robot was told. message: why it failed, in its planner's words. task_type: "" where nobody said."""

    episode_id: str
    query: str
    deeds: tuple[Deed, ...]
    success: bool
    stamp_ns: int = 0
    places: tuple[str, ...] = ()
    message: str = ""
    task_type: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every text of the attempt: what may be named in a memory of it."""
        told = (self.query, self.message, *self.places)
        done = (text for deed in self.deeds for text in (deed.text, deed.way, deed.reply, deed.place, *deed.seen))
        return tuple(text for text in (*told, *done) if text)


_KIND_OF_SKILL = {
    "GoToObject": DeedKind.TRAVEL,
    "Explore": DeedKind.LOOK,
    "OpenObject": DeedKind.OPEN,
    "CloseObject": DeedKind.CLOSE,
    "PickupObject": DeedKind.TAKE,
    "PutObject": DeedKind.PUT,
    "ThrowObject": DeedKind.PUT,
}


def attempt_of(episode: EpisodeSummary, steps: Sequence[StepRecord], kinds: ObjectCatalogue | None = None) -> Attempt:
    """Return a recorded episode as an attempt: skills over classes; where things were is what its steps told.

    kinds: by default the household's.
    """
    deeds: list[Deed] = []
    lies: dict[str, str] = {}
    for step in steps:
        lies |= {thing: place for thing, place in map(_relation, step.relations) if thing}
        deeds.append(deed_of(step, lies))
    # What was taken, or lay on something, is a thing and no place to look at; so are people, and what a hand can carry,
    # unless it was opened or something was put into it.
    things = {deed.thing for deed in deeds if deed.kind in (DeedKind.TAKE, DeedKind.PUT)} | lies.keys()
    used = {deed.place for deed in deeds if deed.kind in (DeedKind.PUT, DeedKind.OPEN, DeedKind.CLOSE)}
    kinds = kinds or load_catalogue()
    things |= {*kinds.able(Property.PICKUPABLE), kinds.recipient} - used
    return Attempt(
        episode.id,
        episode.instruction,
        tuple(replace(deed, place="") if deed.place in things else deed for deed in deeds),
        bool(episode.success),
        episode.ended_ns,
        message=episode.message,
        task_type=episode.task_type,
    )


def deed_of(step: StepRecord, lies: Mapping[str, str] = MappingProxyType({})) -> Deed:
    """Return a recorded step as a deed. lies: where things were, as earlier steps told."""
    kind = _KIND_OF_SKILL.get(step.action.skill, DeedKind.CHANGE)
    names = class_arguments(step)
    first, second = (names[0] if names else ""), (names[1] if len(names) > 1 else "")
    at_place = kind in (DeedKind.TRAVEL, DeedKind.OPEN, DeedKind.CLOSE)
    place = first if at_place else second
    if kind is DeedKind.TAKE and not place:
        place = lies.get(first, "")
    return Deed(
        kind,
        step.action.skill,
        class_action(step),
        thing="" if at_place else first,
        place=place,
        text=str(step.action),
        reply=step.message,
        failure="" if step.success else str(step.reason or FailureReason.EXECUTION),
        seen=tuple(name.partition("@")[0] for name in step.visible),
    )


def _relation(text: str) -> tuple[str, str]:
    """Return the thing and the place of "Mug in Cabinet", ("", "") of another text."""
    words = text.split()
    return (words[0], words[2]) if len(words) == 3 and words[1] in ("in", "on") else ("", "")


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
