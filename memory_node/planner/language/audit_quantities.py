"""Holds the quantities of goals against those that words say: no number is made up, and none is dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.nouns import singular
from memory_node.planner.goal import Goal
from memory_node.planner.language.english import English
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Instruction

_UNCOUNTED = (GoalKind.TELL, GoalKind.STOP, GoalKind.WAIT, GoalKind.GO)


def dropped_quantity(goals: Sequence[Goal], instruction: Instruction, english: English) -> str:
    """Return why goals do not have the quantities of the words, in one sentence; "" where they do."""
    commands = [command for command in instruction.commands if command.kind not in _UNCOUNTED]
    everywhere = next((command.destination for command in commands if _is_each(command)), None)
    if everywhere is not None:
        return f"{everywhere.text!r} is more than one place"
    covered = next((phrase for phrase in _all_of_them(commands) if not _covers(goals, phrase)), None)
    if covered is not None:
        return f"{covered.text!r} are all of them"
    texts = [command.text.split() for command in commands]
    counted = {goal.count for goal in goals} | {phrase.count for phrase in _others(commands)}
    return _uncounted((*texts, instruction.unread), counted, english)


def made_up_number(goal: Goal, words: Set[str], english: English) -> str:
    """Return why the number of a goal is none of those that words say, in one sentence; "" where it is one.

    words: those of the instruction that count; one without a number of its own ("both", "a few") is any.
    """
    said = any(english.numbers.get(word, goal.count) == goal.count for word in words)
    return "" if said or goal.count == 1 or goal.target.referring else f"no word says {goal.count}"


def _uncounted(runs: Sequence[Sequence[str]], counted: Set[int], english: English) -> str:
    """Return that a number of the words is none of those that are counted; "" where all are."""
    said = (number for words in runs for number in _numbers(words, english))
    return next((f"{word!r} is left out" for word, number in said if number not in counted), "")


def _is_each(command: Command) -> bool:
    """Return whether a place is each of several: "an apple in each bowl", "each book on its own shelf"."""
    phrase = command.destination
    if phrase is None:
        return False
    several = any(target.every or target.plural for target in command.targets)
    own = phrase.owner in ("its", "their") and "own" in phrase.attributes
    return (phrase.every and phrase.text.split()[0] in ("each", "every")) or (several and own)


def _all_of_them(commands: Sequence[Command]) -> Iterator[NounPhrase]:
    phrases = (phrase for command in commands for phrase in command.targets)
    return (phrase for phrase in phrases if phrase.every and phrase.count == 1 and phrase.called is not None)


def _covers(goals: Sequence[Goal], phrase: NounPhrase) -> bool:
    """Return whether goals on the things of a phrase are on all of them; a reading that leaves them out is another
    matter."""
    names = set(phrase.called.all if phrase.called is not None else ())
    meant = [goal for goal in goals if goal.target.object_class in names]
    return not meant or any(goal.every for goal in meant) or len(meant) > 1


def _others(commands: Sequence[Command]) -> Iterator[NounPhrase]:
    """Yield what commands name beside their targets, with the places that tell of a target."""
    for command in commands:
        yield from command.phrases[len(command.targets) :]
        for phrase in command.phrases:
            yield from (place for _, place in phrase.places)
            yield from phrase.excluded


def _numbers(words: Sequence[str], english: English) -> Iterator[tuple[str, int]]:
    """Yield the numbers of things that words say; those of times, of pieces and of "two of the four" are others."""
    numbers: Mapping[str, int] = english.numbers
    for at, word in enumerate(words):
        if numbers.get(word, 1) < 2:
            continue
        before, behind = list(words[max(at - 2, 0) : at]), [singular(one) for one in words[at + 1 : at + 3]]
        of_all = before[:1] == ["of"] or before[-1:] == ["of"]
        timed = bool(set(behind) & (english.time_units | english.pieces)) or word in ("couple", "pair")
        if not (of_all or timed or before[-1:] in (["in"], ["into"], ["at"], ["for"], ["past"])):
            yield word, numbers[word]
