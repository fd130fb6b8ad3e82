"""Asks before a home is searched for big furniture that was not there when every place was looked at, and before a
thing is fetched for a person whose place memory does not know, or a room is gone to that it has not."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.command import Command, Parts
from memory_node.planner.reading.conversation import Conversation, Pending, Question, Slot
from memory_node.planner.reading.home_classes import HomeClasses, lacks
from memory_node.planner.reading.noun_phrase import NounPhrase

_BIG_M = 0.5  # what is smaller may have been overlooked
_SEEKING = frozenset({GoalKind.FIND, GoalKind.GO, GoalKind.TELL})


def question_about(
    goals: Sequence[Goal], parts: Parts, home: HomeClasses, kinds: ObjectCatalogue
) -> tuple[Question, int] | None:
    """Return what is to be asked, and the index of the part that it is about; None where nothing is.

    Things that can be carried, and small ones, are searched for; so is what the person tells the robot to find.
    """
    if not home.surveyed:
        return None
    for goal in goals:
        if goal.kind in _SEEKING:
            continue
        for slot, mention in ((Slot.DESTINATION, goal.destination), (Slot.TARGET, goal.target)):
            if mention is not None and _is_unseen(mention, home, kinds):
                return _asked(mention, slot, home, kinds), _part_about(mention, parts)
    return None


def _is_unseen(mention: Mention, home: HomeClasses, kinds: ObjectCatalogue) -> bool:
    if home.all & set(mention.stand_ins):
        return False
    return lacks(home, mention, kinds) and all(_is_big_furniture(kinds[name]) for name in mention.candidates)


def _is_big_furniture(kind: ObjectKind) -> bool:
    size_m = kind.size_m
    return kind.is_receptacle and not kind.pickupable and size_m is not None and max(size_m[:2]) >= _BIG_M


def _asked(mention: Mention, slot: Slot, home: HomeClasses, kinds: ObjectCatalogue) -> Question:
    name = kinds[mention.object_class].best_name
    alike = [kinds[one].best_name for one in sorted(kinds.alike(mention.candidates) & home.fixtures)]
    instead = f" Shall I take the {' or the '.join(alike)}?" if alike else " What shall I take instead?"
    return Question(f"I have looked everywhere and have seen no {name}.{instead}", tuple(alike), slot)


def _part_about(mention: Mention, parts: Parts) -> int:
    """Return the index of the first command that names the thing; 0 where none does."""
    named = (index for index, part in enumerate(parts) if isinstance(part, Command) and _names(part, mention))
    return next(named, 0)


def _names(command: Command, mention: Mention) -> bool:
    phrases: tuple[NounPhrase, ...] = command.phrases
    return any(phrase.called is not None and mention.object_class in phrase.called.all for phrase in phrases)


_MOST_CHOICES = 4


def question_about_person(
    goals: Sequence[Goal], conversation: Conversation, home: HomeClasses, kinds: ObjectCatalogue
) -> Question | None:
    """Return what is to be asked, and let the conversation wait for the answer; None where nothing is.

    The answer names a place, which takes the person's part: furniture to put the thing on, or for a robot that is to
    come, where to.
    """
    unseen = {kinds.recipient} - {"", *home.all}
    goal = next((one for one in goals if unseen & {*_places_of(one)}), None)
    rooms = (one for one in goals if one.kind is GoalKind.GO and not one.target.candidates)
    unknown = next((one for one in rooms if not home.has_room(one.target.text)), None)
    if goal is None and unknown is None:
        return None
    surfaces = (kinds[name] for name in sorted(home.fixtures) if kinds[name].is_receptacle)
    choices = tuple(kind.best_name for kind in surfaces if not kind.holds_inside)[:_MOST_CHOICES]
    what = "shall I put it" if goal is not None and goal.destination is not None else "shall I go"
    lacking = "you are" if goal is not None or unknown is None else f"the {unknown.target.text} is"
    question = Question(f"I do not know where {lacking}. Where {what}?", choices, Slot.DESTINATION)
    goal = goal or unknown
    assert goal is not None
    parts = conversation.last
    commands = ((at, part) for at, part in enumerate(parts) if isinstance(part, Command))
    indexes = (at for at, command in commands if command.to_user or command.kind is goal.kind)
    conversation.pending = Pending(question, parts, next(indexes, 0)) if parts else None
    return question


def _places_of(goal: Goal) -> tuple[str, ...]:
    """Return the classes of where a goal leads to."""
    return goal.destination.candidates if goal.destination is not None else goal.target.candidates
