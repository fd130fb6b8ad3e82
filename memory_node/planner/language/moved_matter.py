"""What is moved in words and treated in fact: dirt that is taken off, drinks that are poured, water that is let in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.english import English
from memory_node.planner.language.spoken_command import Command, Place

_K = GoalKind


def without_dirt(command: Command, english: English) -> Command:
    """Return the command on what is freed of something: "get the stains off the plate" washes the plate."""
    removed = command.targets[0].head if len(command.targets) == 1 and not command.targets[0].named else ""
    found = english.verb_at([english.removed[removed]], 0) if removed in english.removed else None
    if found is None or found[0].kind is None or command.origin is None:
        return command
    return replace(
        command, kind=found[0].kind, treatment=found[0].treatment, targets=(command.origin,), origin=None, away=False
    )


def served(command: Command, english: English) -> Command:
    """Return "pour me a cup of tea" as filling; nothing is known of other contents than those liquids."""
    served = command.targets[0] if command.kind is _K.EMPTY and len(command.targets) == 1 else None
    if served is None or served.definite or not served.named or " of " not in served.text:
        return command
    unread = () if english.liquids & set(served.attributes) else (command.verb,)
    return replace(command, kind=_K.FILL, treatment="", unread=(*command.unread, *unread))


def with_vessel(command: Command, goals: list[Place], english: English) -> Command:
    """Return the command on the vessel of a liquid: "put water in the kettle" fills it."""
    if not _moves_liquid(command, english):
        return command
    if command.origin is not None and (command.kind is _K.EMPTY or command.verb in english.letting):
        return replace(command, kind=_K.EMPTY, targets=(command.origin,), origin=None)
    if not goals or not (goals[-1].phrase.named or goals[-1].phrase.refers_back):
        return command
    thrown = command.kind is _K.THROW or (command.kind is _K.EMPTY and command.targets[0].definite)
    if thrown and goals[-1].preposition in ("in", "inside"):  # "throw out the coffee in my cup"
        return replace(command, kind=_K.EMPTY, targets=(goals.pop().phrase,), away=False)
    kind = _K.FILL if command.kind in (_K.PLACE, _K.EMPTY) else command.kind
    return replace(command, kind=kind, targets=(goals.pop().phrase,))


def _moves_liquid(command: Command, english: English) -> bool:
    """Return whether a liquid is let in or out. "Drop the beer" and "put the milk in the cup" move what is in hand."""
    if len(command.targets) != 1 or command.targets[0].named or command.targets[0].head not in english.liquids:
        return False
    drink = command.targets[0].definite and command.targets[0].head != "water"
    return command.kind is not _K.DROP and not (command.kind is _K.PLACE and drink)


def served_on_strange(command: Command, others: Sequence[Place]) -> list[str]:
    """Return what "it" is brought on where nobody knows what that is: "bring it to me on a salver"."""
    again = len(command.targets) == 1 and command.targets[0].refers_back
    return [place.phrase.text for place in others if again and place.phrase.strange and not place.phrase.definite]
