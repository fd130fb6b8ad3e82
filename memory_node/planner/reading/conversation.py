"""What goes on from one instruction to the next: what was spoken of, what was asked, what the last commands were."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import date

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.text_enum import TextEnum
from memory_node.planner.reading.command import Command, Fragment, Instruction, Parts
from memory_node.planner.reading.discourse import Discourse
from memory_node.planner.reading.english import INTO, NEAR
from memory_node.planner.reading.lexicon import Called
from memory_node.planner.reading.named_things import NamedThings
from memory_node.planner.reading.noun_phrase import NounPhrase, again, told_apart
from memory_node.world.state import Thing


class Slot(TextEnum):
    """The part of a command that an answer fills."""

    TARGET = "target"
    DESTINATION = "destination"
    LIGHT = "light"
    COMMAND = "command"


@dataclass(frozen=True)
class Question:
    """A question to the person. choices: answers that would do; others may, too.

    confirms: "yes" means what was said. about: words of the instruction that an answer takes the place of, "" where
    that is not known.
    """

    text: str
    choices: tuple[str, ...] = ()
    slot: Slot = Slot.COMMAND
    confirms: bool = False
    about: str = ""

    @property
    def is_what_to_do(self) -> bool:
        """Whether it is asked what shall be done at all: nothing in the words was understood as a request."""
        return self.slot is Slot.COMMAND and not (self.choices or self.about or self.confirms)


class UnclearError(Exception):
    """A command leaves open what matters; it never leaves the reader of instructions."""

    def __init__(self, text: str, choices: tuple[str, ...] = (), slot: Slot = Slot.COMMAND, about: str = "") -> None:
        super().__init__(text)
        self.question = Question(text, choices, slot, about=about)


@dataclass(frozen=True)
class Pending:
    """A question that waits for its answer: the parts of its instruction, and the one that is asked about."""

    question: Question
    parts: Parts
    index: int


@dataclass
class Conversation:
    """One person's session with the robot.

    asked: what stood before and behind the words that were asked about last. doubted: the last instruction where it was
    asked about for words that sound like a ban and that no form reads. completed: the last instruction that was
    carried out. last: the parts of the last one. handled: by class, the ids of the things that were handled; places: by
    class, where the thing of the last instruction was before. said: what the person said and the robot answered to a
    language model's planner, the newest last. sought_in_vain: a day, and the classes that were sought in vain on it.
    """

    discourse: Discourse = field(default_factory=Discourse)
    pending: Pending | None = None
    asked: tuple[str, str] | None = None
    doubted: NamedThings | None = None
    last: Parts = ()
    completed: str = ""
    handled: dict[str, set[str]] = field(default_factory=dict)
    places: dict[str, Thing] = field(default_factory=dict)
    said: list[tuple[str, str]] = field(default_factory=list)
    sought_in_vain: tuple[date | None, set[str]] = field(default_factory=lambda: (None, set()))

    def sought_in_vain_on(self, day: date | None) -> set[str]:
        """Return the classes that were sought in vain on a day, to be added to; None: of one instruction alone."""
        if day is None or self.sought_in_vain[0] != day:
            self.sought_in_vain = day, set()
        return self.sought_in_vain[1]

    @property
    def is_new(self) -> bool:
        """Whether nothing was understood or asked in it yet."""
        return self.pending is None and self.asked is None and not self.last

    def clear(self) -> None:
        """Forget what was said: a new session begins."""
        vars(self).update(vars(Conversation()))


def completed(
    said: Instruction, conversation: Conversation, kinds: ObjectCatalogue, people: Collection[str] = ()
) -> Parts | None:
    """Return the parts that an instruction means in a conversation: an answer or a correction is filled in.

    None where it is a fragment that fits nothing before it.
    """
    fragment, pending = said.fragment, conversation.pending
    is_whole = bool(said.commands) and not said.unread
    if fragment is None or (is_whole and not (fragment.corrects and _corrects_last(said, conversation))):
        return said.parts if fragment is None or is_whole else None
    if pending is not None and pending.question.confirms:
        return pending.parts if fragment.agrees else None
    if pending is not None:
        return _answered(fragment, pending, kinds)
    if not conversation.last:
        return None
    return _repeated(fragment, conversation.last, kinds, people)


def _corrects_last(said: Instruction, conversation: Conversation) -> bool:
    """Return whether what can be read as a command without a verb corrects the last one instead."""
    return bool(conversation.last) and all(command.verb == "put" for command in said.commands)


def _answered(fragment: Fragment, pending: Pending, kinds: ObjectCatalogue) -> Parts | None:
    """Return the parts of the question's instruction with the answer in its place."""
    command = pending.parts[pending.index]
    if not isinstance(command, Command):
        return None
    thing, place, slot = fragment.thing, fragment.place, pending.question.slot
    if fragment.agrees and thing is None and len(pending.question.choices) == 1:
        thing = _choice(pending.question.choices[0], kinds)
    if place is not None and command.kind is GoalKind.GO:
        filled = replace(command, targets=(place[1],))
    elif place is not None and (slot is Slot.DESTINATION or thing is None):
        filled = replace(command, destination=place[1], near=place[0] == NEAR, under=False, way="", to_user=False)
    elif thing is None:
        return None
    elif slot is Slot.DESTINATION and command.kind is GoalKind.GO:
        filled = replace(command, targets=(thing,), to_user=False)
    elif slot is Slot.DESTINATION:
        filled = replace(command, destination=_merged(command.destination, thing), under=False, way="", to_user=False)
    elif slot is Slot.LIGHT:
        filled = replace(command, light=thing)
    else:
        thing = replace(thing, places=(*thing.places, place)) if place is not None else thing  # "the one on the desk"
        first = _merged(command.targets[0] if command.targets else None, thing)
        filled = replace(command, targets=(first, *fragment.also))
    return (*pending.parts[: pending.index], filled, *pending.parts[pending.index + 1 :])


def _merged(asked: NounPhrase | None, answer: NounPhrase) -> NounPhrase:
    """Return the answer; "the red one" keeps the noun that was asked about."""
    return told_apart(asked, answer) if asked is not None and answer.pronoun == "one" and asked.named else answer


def _choice(words: str, kinds: ObjectCatalogue) -> NounPhrase:
    called = tuple(kind.name for kind in kinds if kind.best_name == words) or (words,)
    return NounPhrase(words, head=words, called=Called(called), definite=True)


def _repeated(fragment: Fragment, last: Parts, kinds: ObjectCatalogue, people: Collection[str]) -> Parts | None:
    """Return the last command once more with another thing or place: "no, the cup", "and the lettuce, too"; with those
    before it that were about the same thing: "[wash the fork and put it away.] The same with the spoon"."""
    commands = [part for part in last if isinstance(part, Command)]
    command = commands[-1] if commands else None
    if command is None or command.kind in (GoalKind.STOP, GoalKind.WAIT):
        return None
    if fragment.particle in ("on", "off") and command.kind in (GoalKind.SWITCH_ON, GoalKind.SWITCH_OFF):
        command = replace(command, kind=GoalKind(f"switch_{fragment.particle}"))
    elif fragment.particle:
        return None
    if fragment.place is not None:
        sense, phrase = fragment.place
        if sense not in (INTO, NEAR):
            return None
        command = replace(command, destination=phrase, near=sense == NEAR, to_user=False, way="")
    thing = fragment.thing
    if thing is None:
        return (command,)
    if thing.text in people:  # "the same for Karl"; several commands may lean on each other
        given = command.given_to(thing)
        return (given,) if given is not None and len(commands) == 1 else None
    if command.destination is not None and _is_place(thing, kinds) and fragment.place is None:
        return (replace(command, destination=thing),)
    first = len(commands) - 1
    while first and commands[first].targets and all(one.pronoun for one in commands[first].targets):
        first -= 1
    same = [*commands[first:-1], command]
    targets = same[0].targets
    if thing.pronoun == "one" and targets:
        noun, one = targets[0], thing
        thing = replace(noun, text=one.text, other=one.other, attributes=one.attributes, states=one.states)
        thing = replace(thing, places=one.places, count=1, every=False, plural=False)
    elif targets and fragment.corrects and thing.plural and thing.count == 1 and targets[0].count > 1:
        thing = replace(thing, count=targets[0].count, every=False)
    same[0] = replace(same[0], targets=(thing, *fragment.also), alternatives=False)
    return (same[0], *(replace(one, targets=again(same[0].targets)) for one in same[1:]))


def _is_place(phrase: NounPhrase, kinds: ObjectCatalogue) -> bool:
    return phrase.called is not None and not any(kinds[name].pickupable for name in phrase.called.all)
