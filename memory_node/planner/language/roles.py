"""Which part the names of an instruction play, told by their prepositions alone: where from, where to, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import FROM, INTO, NEAR, English
from memory_node.planner.language.noun_phrase import NounPhrase


@dataclass(frozen=True)
class Roles:
    """origins: named where something is taken from; goals: where something is taken to.

    within: named behind "in", "on", "to" and the like; beside: behind "next to", "in front of" and the like.
    """

    origins: tuple[NounPhrase, ...] = ()
    goals: tuple[NounPhrase, ...] = ()
    within: tuple[NounPhrase, ...] = ()
    beside: tuple[NounPhrase, ...] = ()


def _drives(words: Sequence[str], at: int, english: English) -> bool:
    """Return whether the robot itself goes to the place at a word."""
    before = words[at - 1] if at and words[at - 1] not in ("over", "back", "up") else words[at - 2] if at > 1 else ""
    return english.verbs.get(english.base_form(before)) is GoalKind.GO


def _is_purpose(words: Sequence[str], at: int, commands: CommandReader) -> bool:
    """Return whether "to" stands before a deed: "use the remote to switch on the TV"."""
    return words[at] == "to" and (commands.begins(words, at + 1) or commands.is_purpose(words, at))


def roles_of(words: Sequence[str], commands: CommandReader) -> Roles:
    """Return what prepositions tell of the things named in words, whether or not the grammar reads their verbs."""
    english = commands.english
    goals: list[NounPhrase] = []
    by_sense: dict[str, list[NounPhrase]] = {FROM: [], INTO: [], NEAR: []}
    at = 0
    while at < len(words):
        found = english.preposition_at(words, at)
        if found is None and words[at] == "out":  # "out the fridge"
            found = FROM, 1
        phrase = commands.phrase(words, at + found[1]) if found is not None else None
        if found is None or phrase is None or not phrase.named or _is_purpose(words, at, commands):
            at += 1
            continue
        sense, length = found
        if words[at] != "over":  # "over the chair" is on it or above it
            by_sense.setdefault(sense, []).append(phrase)
        directed = " ".join(words[at : at + length]) in english.directed
        if sense != FROM and directed and not _drives(words, at, english):
            goals.append(phrase)
        at = phrase.end
    return Roles(tuple(by_sense[FROM]), tuple(goals), tuple(by_sense[INTO]), tuple(by_sense[NEAR]))
