"""Asks where a person is before anything is fetched for one whose place memory does not know."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.goal import Goal
from memory_node.planner.reading.command import Command
from memory_node.planner.reading.conversation import Conversation, Pending
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.question import Question, Slot

_MOST_CHOICES = 4


def question_about_person(
    goals: Sequence[Goal], conversation: Conversation, home: HomeClasses, kinds: ObjectCatalogue
) -> Question | None:
    """Return what is to be asked, and let the conversation wait for the answer; None where nothing is.

    The answer names a place, which takes the person's part: furniture to put the thing on, or for a robot that is to
    come, where to.
    """
    recipient = kinds.recipient
    if not recipient or recipient in home.all:
        return None
    goal = next((one for one in goals if recipient in _places_of(one)), None)
    if goal is None:
        return None
    surfaces = (kinds[name] for name in sorted(home.fixtures) if kinds[name].is_receptacle)
    choices = tuple(kind.best_name for kind in surfaces if not kind.holds_inside)[:_MOST_CHOICES]
    what = "shall I put it" if goal.destination is not None else "shall I go"
    question = Question(f"I do not know where you are. Where {what}?", choices, Slot.DESTINATION)
    parts = conversation.last
    commands = ((at, part) for at, part in enumerate(parts) if isinstance(part, Command))
    indexes = (at for at, command in commands if command.to_user or command.kind is goal.kind)
    conversation.pending = Pending(question, parts, next(indexes, 0)) if parts else None
    return question


def _places_of(goal: Goal) -> tuple[str, ...]:
    """Return the classes of where a goal leads to."""
    return goal.destination.candidates if goal.destination is not None else goal.target.candidates
