"""Holds the guess of a trained reader against the words: it does not know which of them it has left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.english import English
from memory_node.planner.language.licence import Licence
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_instruction import Instruction

_K = GoalKind
# What is done with a thing, and cannot be meant unless a word says it.
_DEEDS = (_K.OPEN, _K.CLOSE, _K.FILL, _K.EMPTY, _K.SWITCH_ON, _K.SWITCH_OFF, _K.BREAK, _K.THROW)
_STATES = frozenset(["open", "closed", "shut", "on", "off", "full", "empty"])


def unnamed_thing(handled: Sequence[Mention], licence: Licence, recipient: str) -> str:
    """Return the objection that more things are handled than words name or describe, in one sentence; "" for none."""
    guessed = {one.object_class for one in handled} - licence.named - {recipient}
    guessed -= {one.object_class for one in handled if one.referring or one.guessed}
    if len(guessed) <= len(licence.open):
        return ""
    return f"no word stands for {min(guessed)}"


def unknown_thing(instruction: Instruction, handled: Sequence[Mention], english: English) -> str:
    """Return the objection that a thing is spoken of that no class is called by; "" for none."""
    referring = {one.text for one in handled if one.referring}
    told = (phrase for phrase in _told(instruction) if not (phrase.described or phrase.person or phrase.named))
    strange = (phrase for phrase in told if phrase.strange or phrase.head in english.liquids)
    return next((f"nobody knows what {one.text!r} is" for one in strange if one.text not in referring), "")


def unsaid_place(goals: Sequence[Goal], instruction: Instruction) -> str:
    """Return the objection that something is to go to a room, and nobody said where there; "" for none."""
    places = (command.destination for command in instruction.commands)
    room = next((one.text for one in places if one is not None and one.room and one.called is None), "")
    return f"nobody said where in {room}" if room and any(goal.destination is not None for goal in goals) else ""


def unsaid_deed(goals: Sequence[Goal], instruction: Instruction, english: English) -> str:
    """Return the objection that something is opened, filled or switched though no word says it; "" for none."""
    words = instruction.kept
    said = {kind for at in range(len(words)) for kind in _kinds_at(words, at, english)}
    said |= {command.kind for command in instruction.commands}
    made_up = (goal for goal in goals if goal.kind in _DEEDS and goal.kind not in said)
    return next((f"no word asks to {one.kind} {one.target}" for one in made_up if not _STATES & set(words)), "")


def _kinds_at(words: Sequence[str], at: int, english: English) -> Iterator[GoalKind]:
    found = english.verb_at(words, at, participle=True)
    if found is not None and found[0].kind is not None:
        yield found[0].kind


def _told(instruction: Instruction) -> Iterator[NounPhrase]:
    """Yield what commands are about, also those that were read in part."""
    for command in instruction.commands:
        yield from command.targets
        if command.destination is not None:
            yield command.destination
