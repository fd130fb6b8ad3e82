"""Holds the guess of a trained reader against the words: it does not know which of them it has left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.english import English
from memory_node.planner.language.licence import Licence
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import LEFT_OPEN
from memory_node.planner.language.spoken_instruction import Instruction, unread_runs

_K = GoalKind
# What is done with a thing, and cannot be meant unless a word says it.
_DEEDS = (_K.OPEN, _K.CLOSE, _K.FILL, _K.EMPTY, _K.SWITCH_ON, _K.SWITCH_OFF, _K.BREAK, _K.THROW)
# Words of direction, place, exclusion and for other people: with them a command asks for something else than without.
_DIRECTIONS = ("left", "right", "forward", "forwards", "backwards", "sideways", "higher", "lower")
_TURNING = frozenset([*_DIRECTIONS, "except", "excluding", "besides", "her", "him", "where", LEFT_OPEN])
_OWN_DEEDS = frozenset(["will", "myself", "about", "going"])  # people say with them what they do themselves
_STATES = frozenset(["open", "closed", "shut", "on", "off", "full", "empty"])


def half_guess(
    goals: Sequence[Goal],
    handled: Sequence[Mention],
    instruction: Instruction,
    licence: Licence,
    english: English,
    recipient: str,
) -> str:
    """Return why a guess does more than the words ask for, or less, in one sentence; "" where it does neither."""
    return (
        _only_talk(instruction)
        or _unnamed_thing(handled, licence, recipient)
        or _unknown_thing(instruction, handled, english)
        or _unsaid_place(goals, instruction)
        or _unsaid_deed(goals, instruction, english)
        or _stays_away(goals, instruction)
    )


def unread_content(instruction: Instruction, english: English, guessed: bool) -> str:
    """Return the objection that no rule reads a word that changes what is asked for; "" where there is none.

    guessed: a trained reader has read them, and may know the deeds among them.
    """
    for words in unread_runs(instruction):
        turns = (at for at, word in enumerate(words) if word in _TURNING and "from" not in words[max(0, at - 2) : at])
        turning = next((words[at] for at in turns), "")
        deed = "" if guessed else next((words[at] for at in range(len(words)) if _is_deed(words, at, english)), "")
        if turning or deed:
            return f"nobody knows what {turning or deed!r} asks for here"
    return ""


def _only_talk(instruction: Instruction) -> str:
    """Return the objection that nothing is asked for: "Anna will put the cup in the sink"; "" where something is."""
    talk = bool(_OWN_DEEDS & set(instruction.aside)) and not (instruction.commands or instruction.unread)
    return "it is only said how things are" if talk and not instruction.answers else ""


def _unnamed_thing(handled: Sequence[Mention], licence: Licence, recipient: str) -> str:
    """Return the objection that more things are handled than words name or describe, in one sentence; "" for none."""
    guessed = {one.object_class for one in handled} - licence.named - {recipient}
    guessed -= {one.object_class for one in handled if one.referring or one.guessed}
    if len(guessed) <= len(licence.open):
        return ""
    return f"no word stands for {min(guessed)}"


def _unknown_thing(instruction: Instruction, handled: Sequence[Mention], english: English) -> str:
    """Return the objection that a thing is spoken of that no class is called by; "" for none."""
    referring = {one.text for one in handled if one.referring}
    told = (phrase for phrase in _told(instruction) if not (phrase.described or phrase.person or phrase.named))
    nouns = (phrase for phrase in told if phrase.head not in english.states)  # not "[I'd like] this cup ice cold"
    strange = (phrase for phrase in nouns if phrase.strange or phrase.head in english.liquids)
    return next((f"nobody knows what {one.text!r} is" for one in strange if one.text not in referring), "")


def _unsaid_place(goals: Sequence[Goal], instruction: Instruction) -> str:
    """Return the objection that something is to go to a room, and nobody said where there; "" for none."""
    places = (command.destination for command in instruction.commands)
    room = next((one.text for one in places if one is not None and one.only_room), "")
    return f"nobody said where in {room}" if room and any(goal.destination is not None for goal in goals) else ""


def _unsaid_deed(goals: Sequence[Goal], instruction: Instruction, english: English) -> str:
    """Return the objection that something is opened, filled or switched though no word says it; "" for none."""
    words = instruction.kept
    said = {kind for at in range(len(words)) for kind in _kinds_at(words, at, english)}
    said |= {command.kind for command in instruction.commands}
    made_up = (goal for goal in goals if goal.kind in _DEEDS and goal.kind not in said)
    return next((f"no word asks to {one.kind} {one.target}" for one in made_up if not _STATES & set(words)), "")


def _stays_away(goals: Sequence[Goal], instruction: Instruction) -> str:
    """Return the objection that the robot is told to come, and does not: "turn off the tap and come here"."""
    called = any(one.kind is _K.GO and one.to_user and not one.unread for one in instruction.commands)
    return "the robot is to come" if called and all(goal.kind is not _K.GO for goal in goals) else ""


def _is_deed(words: Sequence[str], at: int, english: English) -> bool:
    """Return whether a word orders a deed: "wash them", "close the lid"."""
    things = english.determiners | {"it", "them"}
    return english.is_verb(words[at]) and bool(things & set(words[at + 1 : at + 2]))


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
