"""What the optimizer reads: one attempt at a task, in words and over kinds of things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.domain.text_enum import TextEnum
from memory_node.episodes.class_actions import class_action, class_arguments


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
