"""Which classes the words of an instruction account for: no reader may handle any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import PUNCTUATION, English, phrase_at
from memory_node.planner.language.lexicon import Called, Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.surroundings import HomeClasses


@dataclass(frozen=True)
class Licence:
    """named: the classes that names and group words account for. open: descriptions that may mean any class.

    unknown: nouns that name no class. alternatives: of the named classes those that words name only together with
    others: "the light" is one of several.
    """

    named: frozenset[str]
    open: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    alternatives: frozenset[str] = frozenset()


def meant_by(called: Called, home: HomeClasses, asks: bool = False) -> frozenset[str]:
    """Return the classes that a name accounts for: those first called so.

    Where one of these is known and nobody can be asked, others that memory holds may be called so as well. A name that
    is the first of none accounts for those of the classes that memory holds, or else for all.
    """
    known = frozenset(called.also) & home.all
    if not called.own:
        return known or frozenset(called.also)
    return frozenset(called.own) | (known if not asks and home.all & set(called.own) else frozenset())


def licence_of(
    words: Sequence[str],
    lexicon: Lexicon,
    commands: CommandReader,
    home: HomeClasses,
    kinds: ObjectCatalogue,
    asks: bool = False,
) -> Licence:
    """Return what the words account for. kinds: whom "me", "light" and "throw away" stand for; asks: see meant_by.

    Of several classes that answer to a name but are first called otherwise, those count that memory holds.
    """
    names, groups = _named(words, lexicon, home, asks)
    named = frozenset().union(*names, *groups, _implied(words, commands.english, home, kinds))
    phrases = list(_unnamed(words, commands))
    described = tuple(phrase.text for phrase in phrases if phrase.described)
    unknown = tuple(phrase.text for phrase in phrases if not phrase.described)
    several, one = (frozenset().union(*(name for name in names if (len(name) > 1) is many)) for many in (True, False))
    return Licence(named, described, unknown, several - one)


def _named(
    words: Sequence[str], lexicon: Lexicon, home: HomeClasses, asks: bool
) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """Return the classes that each name accounts for, and those of each group word: those that memory holds, or else
    all."""
    names: list[frozenset[str]] = []
    groups: list[frozenset[str]] = []
    at = 0
    while at < len(words):
        strange = lexicon.stranger_at(words, at)
        if strange:
            at += strange
            continue
        found = lexicon.name_at(words, at)
        if found is not None:
            names.append(meant_by(found[0], home, asks))
        members = frozenset(lexicon.group(words[at]) or ())
        groups.append(members & home.all or members)
        at += found[1] if found is not None else 1
    return names, groups


def _implied(words: Sequence[str], english: English, home: HomeClasses, kinds: ObjectCatalogue) -> Iterator[str]:
    """Yield the classes that words stand for without naming them: "me", "in the light", "throw away"."""
    if kinds.recipient and english.personal & set(words):
        yield kinds.recipient
    if english.lighting & set(words):
        yield from [lamp for lamp in kinds.reading_lights if lamp in home.all] or kinds.reading_lights
    if english.disposing & set(words):
        yield from kinds.bins


def _unnamed(words: Sequence[str], commands: CommandReader) -> Iterator[NounPhrase]:
    """Yield the phrases that speak of a thing without a name."""
    english = commands.english
    beginners = english.determiners | english.every | english.sizes | english.colours | frozenset(english.numbers)
    at = 0
    while at < len(words):
        if words[at] == "without":  # "without breaking anything" describes nothing that is meant
            at = next((end for end in range(at, len(words)) if words[end] in PUNCTUATION), len(words))
            continue
        phrase = None if words[at] in PUNCTUATION | english.fillers else commands.phrase(words, at)
        if phrase is None or phrase.person or phrase_at(english.persons, words, at):
            at += 1
            continue
        unknown = phrase.head and not phrase.named and words[phrase.begin] in beginners
        if phrase.described or unknown:
            yield phrase
        at = phrase.end
