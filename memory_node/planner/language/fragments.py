"""Reads what is no whole command: an answer ("the apple", "yes"), a correction ("no, the cup") or an addition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_node.planner.language.command_frames import placed
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import PUNCTUATION, phrase_at
from memory_node.planner.language.noun_phrase import NounPhrase

_CORRECTING = frozenset(["no", "nope", "not", "sorry", "mean", "meant", "actually", "rather"])


@dataclass(frozen=True)
class Fragment:
    """A thing, a place (sense of its preposition, phrase), or both; corrects: in place of what was said before.

    agrees: True for "yes", False for "no", None where nothing was said of that.
    """

    thing: NounPhrase | None = None
    place: tuple[str, NounPhrase] | None = None
    corrects: bool = False
    agrees: bool | None = None


def read_fragment(words: Sequence[str], commands: CommandReader) -> Fragment | None:
    """Return what an instruction without a verb says; None for one with a verb, or with anything else."""
    english = commands.english
    said = frozenset(words) - PUNCTUATION
    if said and said <= english.yes | english.fillers and said & english.yes:
        return Fragment(agrees=True)
    if said and said <= english.no | english.fillers:
        return Fragment(agrees=False)
    if not any(phrase_at(english.repeats, words, at) for at in range(len(words))) and any(
        commands.begins(words, at) and _stands_first(words, at, commands) for at in range(len(words))
    ):
        return None
    at, corrects = 0, False
    while at < len(words) and words[at] in PUNCTUATION | english.fillers:
        at += 1
    at += phrase_at(english.repeats, words, at)
    while at < len(words) and words[at] in PUNCTUATION | english.fillers | english.fragment_marks:
        if words[at - 1 : at] == ["not"] and commands.phrase(words, at) is not None:
            break  # "not that one": "that" marks no fragment here
        corrects |= words[at] in _CORRECTING
        at += 1
    wrong = commands.phrase(words, at) if at and words[at - 1] == "not" else None
    if wrong is not None and all(word in PUNCTUATION for word in words[wrong.end :]) and wrong.refers_back:
        return Fragment(replace(wrong, other=True), corrects=True)  # "not the red one": another one
    if wrong is not None:
        at = wrong.end
        while at < len(words) and words[at] in PUNCTUATION | english.fillers | {"but"}:
            at += 1
    return _thing_and_place(words, at, corrects, commands)


def _thing_and_place(words: Sequence[str], at: int, corrects: bool, commands: CommandReader) -> Fragment | None:
    english = commands.english
    first = english.preposition_at(words, at)
    begins_place = first is not None and commands.phrase(words, at + first[1]) is not None
    thing = commands.phrase(words, at) if at < len(words) and not begins_place else None
    if thing is not None and (thing.person or not (thing.named or thing.refers_back or thing.head)):
        return None
    end = thing.end if thing is not None else at
    found = english.preposition_at(words, end)
    inner = commands.phrase(words, end + found[1]) if found is not None else None
    place = (found[0], inner) if found is not None and inner is not None else None
    end = inner.end if inner is not None else end
    while end < len(words) and words[end] in PUNCTUATION | english.fillers | {"i", "mean", "meant"}:
        end += 1
    if end < len(words) or (thing is None and place is None):
        return None
    if thing is not None and place is not None and thing.pronoun == "one":
        return Fragment(placed(thing, *place), corrects=corrects)  # "the one on the desk"
    if thing is not None and place is not None and not corrects:
        return None  # "mug to the sink" is a command
    return Fragment(thing, place, corrects)


def _stands_first(words: Sequence[str], at: int, commands: CommandReader) -> bool:
    english = commands.english
    return all(word in PUNCTUATION | english.fillers | english.fragment_marks for word in words[:at])
