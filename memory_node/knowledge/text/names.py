"""Which names and things a text speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memory_node.domain.names import singular
from memory_node.knowledge.text.words import STOP_WORDS, plain_words

# Capitalised words, joined by the small words that names hold: "Haymo of Faversham".
_NAME = re.compile(
    r"[^\W\d_a-zà-öø-ÿ][\w'’&-]*"
    r"(?:(?:\s+(?:of|the|de|la|von|van|der|for|in|on|and|&))*\s+[A-Z0-9À-Þ][\w'’&-]*)*"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]|(?<![\w])['‘]([^'‘’]{2,80})['’](?![\w])")
_ASIDE = re.compile(r"\s*\([^)]*\)\s*$")
_SPLIT = re.compile(r"\s+(?:and|&)\s+")
_NUMBER = re.compile(r"\d")
_LONGEST_NAME = 8
# Concepts of one proposition at most, names first.
MOST_CONCEPTS = 12
# What a concept may never be: it would link everything that anybody said.
_NEVER = frozenset({"user", "i", "thing", "something", "someone", "today", "yesterday", "tomorrow", "photo"})


@lru_cache(maxsize=65_536)
def name_key(text: str) -> str:
    """Return the form in which names are compared; a title's aside, "(film)", is left out."""
    bare = _ASIDE.sub("", text)
    return " ".join(plain_words(bare if bare.strip() else text))


@lru_cache(maxsize=1024)
def names_in(text: str) -> tuple[str, ...]:
    """Return the keys of the names and quoted titles of a text, longest form first found, each once."""
    found: dict[str, None] = {}
    for match in _QUOTED.finditer(text):
        _note(found, match.group(1) or match.group(2))
    for match in _NAME.finditer(text):
        whole = match.group()
        _note(found, whole)
        parts = _SPLIT.split(whole)
        for part in parts if len(parts) > 1 else ():
            _note(found, part)
    return tuple(found)


def _note(found: dict[str, None], name: str) -> None:
    words = name_key(name).split()
    # A sentence begins with a capital, too: "In Laie".
    while words and words[0] in STOP_WORDS:
        words = words[1:]
    while words and words[-1] in STOP_WORDS:
        words = words[:-1]
    if words and len(words) <= _LONGEST_NAME and (len(words) > 1 or len(words[0]) > 1):
        found.setdefault(" ".join(words))


def spans_of(words: list[str], longest: int = _LONGEST_NAME) -> Iterator[str]:
    """Yield every run of up to `longest` words, as a name's key would be; a stop word alone is left out."""
    for begin in range(len(words)):
        yield from spans_at(words, begin, longest)


def spans_at(words: list[str], begin: int, longest: int = _LONGEST_NAME) -> Iterator[str]:
    """Yield the runs that begin at a word, the shortest first."""
    for end in range(begin + 1, min(begin + longest, len(words)) + 1):
        if end - begin > 1 or words[begin] not in STOP_WORDS:
            yield " ".join(words[begin:end])


def things_in(text: str) -> list[str]:
    """Return the noun-like phrases of a text: its words between function words, one and two at a time, plurals cut."""
    found: dict[str, None] = {}
    before = ""
    for word in plain_words(text):
        if word in STOP_WORDS or len(word) < 3 or _NUMBER.search(word):
            before = ""
            continue
        one = singular(word)
        if before:
            found.setdefault(f"{before} {one}")
        found.setdefault(one)
        before = word
    return list(found)


def concepts_said_in(text: str) -> frozenset[str]:
    """Return all that a proposition may have as a concept of a text: runs of words, and things in the singular."""
    return frozenset(spans_of(plain_words(text))) | frozenset(things_in(text))


def concepts_of(subject: str, text: str) -> frozenset[str]:
    """Return the concept tags of a proposition: its subject, its names, then its things; at most MOST_CONCEPTS."""
    chosen: dict[str, None] = {}
    for concept in (*([name_key(subject)] if subject else ()), *names_in(text), *things_in(text)):
        if concept and concept not in _NEVER:
            chosen.setdefault(concept)
        if len(chosen) == MOST_CONCEPTS:
            break
    return frozenset(chosen)
