"""Reads what is no whole command: an answer ("the apple", "yes"), a correction ("no, the cup") or an addition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import INTO, NEAR, PUNCTUATION, English, phrase_at
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import placed

_CORRECTING = frozenset(["no", "nope", "not", "sorry", "mean", "meant", "said", "actually", "rather"])


@dataclass(frozen=True)
class Fragment:
    """A thing, a place (sense of its preposition, phrase), or both; corrects: in place of what was said before.

    also: further things: "a knife and a spoon". agrees: True for "yes", False for "no", None where nothing was said of
    that. orders: as a whole it may as well be a command: "the newspaper on the sofa".
    """

    thing: NounPhrase | None = None
    place: tuple[str, NounPhrase] | None = None
    corrects: bool = False
    agrees: bool | None = None
    also: tuple[NounPhrase, ...] = ()
    orders: bool = False


def read_fragment(words: Sequence[str], commands: CommandReader) -> Fragment | None:
    """Return what an instruction without a verb says; None for one with a verb, or with anything else."""
    agreed = _agreement(words, commands.english)
    if agreed is not None:
        return agreed
    if _has_command(words, commands):
        return None
    at, corrects = _past_marks(words, commands)
    denies = at > 0 and words[at - 1] == "not"
    wrong_place, end = _place(words, at, commands) if denies else (None, at)
    wrong = commands.phrase(words, at) if denies and wrong_place is None else None
    if wrong is None:  # "[not in the sink,] in the drawer"
        return _thing_and_place(words, _past(words, end, PUNCTUATION), corrects, commands)
    if wrong.refers_back and all(word in PUNCTUATION for word in words[wrong.end :]):
        return Fragment(replace(wrong, other=True), corrects=True)  # "not the red one": another one
    at = _past(words, wrong.end, PUNCTUATION | commands.english.fillers | {"but"})
    return _thing_and_place(words, at, corrects, commands)


def _agreement(words: Sequence[str], english: English) -> Fragment | None:
    """Return what "yes, please" or "no" says; None for other words."""
    said = frozenset(words) - PUNCTUATION
    if said & (english.yes | {"now"}) and said <= english.yes | english.fillers | {"do", "it"}:
        return Fragment(agrees=True)
    return Fragment(agrees=False) if said and said <= english.no | english.fillers else None


def _has_command(words: Sequence[str], commands: CommandReader) -> bool:
    """Return whether a command stands first, unless the words ask for the same once more."""
    if any(phrase_at(commands.english.repeats, words, at) for at in range(len(words))):
        return False
    return any(commands.begins(words, at) and _stands_first(words, at, commands) for at in range(len(words)))


def _past_marks(words: Sequence[str], commands: CommandReader) -> tuple[int, bool]:
    """Return where the words behind "no, I mean" or "and also" begin, and whether they correct what was said."""
    english, corrects = commands.english, False
    at = _past(words, 0, PUNCTUATION | english.fillers)
    at += phrase_at(english.repeats, words, at)
    while at < len(words) and words[at] in PUNCTUATION | english.fillers | english.fragment_marks:
        if words[at - 1 : at] == ["not"] and commands.phrase(words, at) is not None:
            break  # "not that one": "that" marks no fragment here
        corrects |= words[at] in _CORRECTING
        at += 1
    return at, corrects


def _thing_and_place(words: Sequence[str], at: int, corrects: bool, commands: CommandReader) -> Fragment | None:
    """Return the fragment of things, a place or both; None where other words are left."""
    things, begin = _things(words, at, commands)
    place, end = _whole_place(words, begin, commands)
    end = _past(words, end, PUNCTUATION | commands.english.fillers | {"i", "mean", "meant"})
    if end < len(words) or not (things or place) or not all(map(_tells, things)):
        return None
    if not things or place is None:
        return Fragment(next(iter(things), None), place, corrects, also=things[1:])
    directed = {" ".join(words[begin : begin + length]) for length in (1, 2)}.intersection(commands.english.directed)
    return _placed_thing(things, place, corrects, bool(directed))


def _placed_thing(
    things: Sequence[NounPhrase], place: tuple[str, NounPhrase], corrects: bool, directed: bool
) -> Fragment | None:
    """Return the fragment of a thing and a place. directed: the place is where it goes."""
    thing, *more = things
    if more:
        return None
    if thing.pronoun == "one":
        told = thing.definite or corrects  # "the one on the desk", but "and one on the armchair"
        return Fragment(placed(thing, *place), corrects=corrects) if told else Fragment(thing, place)
    if corrects:
        return Fragment(thing, place, corrects)
    return None if directed else Fragment(placed(thing, *place), orders=True)  # "mug to the sink" is a command


def _tells(phrase: NounPhrase) -> bool:
    """Return whether a phrase means a thing, not somebody."""
    return not phrase.person and (phrase.named or phrase.refers_back or bool(phrase.head))


def _things(words: Sequence[str], at: int, commands: CommandReader) -> tuple[tuple[NounPhrase, ...], int]:
    """Return the things that are listed from a word on, and where they end: "a knife and a spoon"."""
    found: list[NounPhrase] = []
    begin = at
    while begin < len(words):
        thing = _thing(words, begin, commands)
        if thing is None or (found and (not thing.named or commands.begins(words, begin))):
            break
        found.append(thing)
        at = thing.end
        begin = _past(words, at, frozenset({",", "and"}))
        if begin == at:
            break
    return tuple(found), at


def _thing(words: Sequence[str], at: int, commands: CommandReader) -> NounPhrase | None:
    """Return the thing that begins at a word; None where a place does."""
    place, _ = _place(words, at, commands)
    found = commands.phrase(words, at) if at < len(words) and place is None else None
    if found is not None and words[found.begin : found.end] == ["one", "more"]:
        return replace(found, head="", pronoun="one", other=True, strange=False)
    return found


def _whole_place(words: Sequence[str], at: int, commands: CommandReader) -> tuple[tuple[str, NounPhrase] | None, int]:
    """Return a place with the one that tells which it is: "in the drawer next to the stove"; see _place."""
    place, end = _place(words, at, commands)
    inner, inner_end = _place(words, end, commands)
    if place is None or inner is None or {place[0], inner[0]} - {INTO, NEAR}:
        return place, end
    return (place[0], placed(place[1], *inner)), inner_end


def _place(words: Sequence[str], at: int, commands: CommandReader) -> tuple[tuple[str, NounPhrase] | None, int]:
    """Return the place that begins at a word, and where it ends; None, and the word, where none does."""
    found = commands.english.preposition_at(words, at)
    phrase = commands.phrase(words, at + found[1]) if found is not None else None
    return ((found[0], phrase), phrase.end) if found is not None and phrase is not None else (None, at)


def _past(words: Sequence[str], at: int, skipped: frozenset[str]) -> int:
    while at < len(words) and words[at] in skipped:
        at += 1
    return at


def _stands_first(words: Sequence[str], at: int, commands: CommandReader) -> bool:
    english = commands.english
    before = words[: at - 1] if at and words[at - 1] == "to" else words[:at]  # "to cool the cup"
    return all(word in PUNCTUATION | english.fillers | english.fragment_marks for word in before)
