"""Reads "do with the jar as you did with the tin": what was asked for with one thing, for another one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_node.context.recalled import Recalled
from memory_node.knowledge.text import on_one_line
from memory_node.planner.reading.commands import commands_of
from memory_node.planner.reading.english import English, words_of
from memory_node.planner.reading.lexicon import Called, Lexicon

# Before the thing that is the pattern; "same" stands before either.
_PATTERN = frozenset({"like", "as", "what", "that", "which", "how", "way", "did"})
_LIKENESS = frozenset({"like", "as", "same", "likewise", "what", "way"})
_ANY_DEED = frozenset({"do", "give", "make", "take", "handle", "treat", "go", "get", "put", "let"})
_ADJECTIVES = 3
_PRONOUN = re.compile(r"\b(?:it|them)\b")


@dataclass(frozen=True)
class Likened:
    """What is to be done with a thing as with another one: the words of both. order: that, "" where memory does not
    know what was done with the pattern."""

    thing: str
    pattern: str
    order: str


@dataclass(frozen=True)
class _Named:
    """A thing that words name: [begin, end) with its article."""

    begin: int
    end: int
    called: Called


def likened(text: str, lexicon: Lexicon, english: English, recalled: Recalled) -> Likened | None:
    """Return what an instruction says by likeness: it names two things, one of them as the pattern, and no deed of its
    own; None for another one."""
    words = words_of(text)
    things = _named(words, lexicon, english)
    if len(things) != 2 or words[-1] == "?" or _LIKENESS.isdisjoint(words):
        return None
    first, second = things
    before, between, behind = words[: first.begin], words[first.end : second.begin], words[second.end :]
    is_first = not _PATTERN.isdisjoint(before) and "same" not in before
    if not is_first and _PATTERN.isdisjoint(between) and "same" not in between:
        return None
    pattern, thing = (first, second) if is_first else (second, first)
    own = (between, behind) if is_first else (before,)
    if any(english.is_verb(word) and word not in _ANY_DEED for part in own for word in part):
        return None
    name, other = (" ".join(words[one.begin : one.end]) for one in (thing, pattern))
    # The last instruction in which something was done with the pattern, without what is for other things.
    deeds = (deed for deed in reversed(recalled.deeds) if deed.object_class in pattern.called.all)
    asked = next((on_one_line(recalled.asked.get(deed.episode_id, "")) for deed in deeds), "")
    order: list[str] = []
    is_meant = has_pattern = False
    for command in commands_of(asked):
        said = words_of(command)
        carried = [one for one in _named(said, lexicon, english) if lexicon.is_carried(one.called)]
        same = next((one for one in carried if not set(one.called.all).isdisjoint(pattern.called.all)), None)
        is_meant = same is not None or (is_meant if _PRONOUN.search(command) else not carried)
        if same is not None:
            has_pattern = True
            command = re.sub(rf"\b{re.escape(' '.join(said[same.begin : same.end]))}\b", name, command, flags=re.I)
        order += [command] if is_meant else []
    return Likened(name, other, " and ".join(order) if has_pattern else "")


def _named(words: Sequence[str], lexicon: Lexicon, english: English) -> list[_Named]:
    """Return the things that words name, each with its article and adjectives."""
    found: list[_Named] = []
    at = 0
    while at < len(words):
        name = lexicon.name_at(words, at)
        if name is not None:
            before = range(at - 1, max(at - _ADJECTIVES, 0) - 1, -1)
            begin = next((one for one in before if words[one] in english.determiners), at)
            found.append(_Named(begin, at + name[1], name[0]))
        at += name[1] if name is not None else 1
    return found
