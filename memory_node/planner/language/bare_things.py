"""Finds things that an instruction asks for without a word that tells which: "get me something"."""

from __future__ import annotations

from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Instruction

_SETTING = (GoalKind.OPEN, GoalKind.CLOSE, GoalKind.SWITCH_ON, GoalKind.SWITCH_OFF)
_HANDLED = (*_SETTING, GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK, GoalKind.FETCH, GoalKind.THROW)


def bare_thing(instruction: Instruction) -> NounPhrase | None:
    """Return a thing to be handled that no word tells from others: "get me something"."""
    targets = ((command, phrase) for command in instruction.commands for phrase in command.targets)
    bare = [(command, phrase) for command, phrase in targets if _is_bare(command, phrase)]
    shown = [phrase for _, phrase in bare if phrase.pointed_at]
    if shown or not instruction.plain or instruction.aside:
        return shown[0] if shown else None
    handled = (phrase for command, phrase in bare if command.contents is None and command.kind in _HANDLED)
    return next(handled, None)


def _is_bare(command: Command, phrase: NounPhrase) -> bool:
    """Return whether no word tells a thing; for what is opened or switched "whatever is open" does not, either."""
    return replace(phrase, states=()).bare if command.kind in _SETTING else phrase.bare
