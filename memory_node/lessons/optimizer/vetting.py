"""Checks what a memory may contain: no instance, number or position of one attempt, no unknown thing, no attack.
Memories are read in later tasks at other places, and by a language model that follows them. A memory that breaks a rule
counts as a broken format, also in training.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.names import singular
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt, Candidate, read_candidate
from memory_node.lessons.whereabouts import read_whereabouts
from memory_node.llm.chat import RejectedReplyError

# Skills that a memory may always name: the declared remedies of failures.
PREPARATIONS = frozenset({"GoToObject", "OpenObject", "PickupObject"})
# What else a robot does on the way to every task.
_USUAL = PREPARATIONS | {"Explore", "CloseObject", "PutObject"}

# Words of a name that is looked for.
_LONGEST_NAME = 5
_WORD = re.compile(r"[A-Za-z]+")
_CAMEL_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CAMEL = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]*)+\b")
_CALL = re.compile(r"\b([A-Za-z]\w*)\(")
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
# Ids and coordinates are written with these; markup, templates and commands of a shell with the others.
_MARKS = re.compile(r"[@#|_<>{}\[\]\\`$~]|://|\bwww\.")
_NUMBER_WORDS = frozenset(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "i", "ii", "iii", "iv", "v", "vi")
)
_ORDINALS = frozenset(("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"))
_TAKEOVER = re.compile(
    r"\b(?:ignore|disregard|override|bypass)\b|\bforget (?:all|any|every|the|what|your)\b"
    r"|\b(?:previous|prior|above|earlier|these|your|new|all) (?:instructions?|rules|orders|prompts?)\b"
    r"|\b(?:system|developer|assistant|user) ?(?:prompt|message|:)|\byou are (?:now|no longer)\b|\bpretend\b",
    re.IGNORECASE,
)


class Vetting:
    """Checks values against what an attempt and the shown entries name. kinds: the things that there are names for."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self._kinds = kinds

    def read(self, text: str, attempt: Attempt, shown: Sequence[Lesson]) -> Candidate:
        """Return what a reply says of an attempt: r_fmt is 1 exactly where this raises nothing.

        Raises:
            RejectedReplyError: it breaks the format, names a lesson that was not shown, or says what no memory may.
        """
        candidate = read_candidate(text, len(shown))
        self.check(candidate.value, attempt, [lesson.text for lesson in shown])
        return candidate

    def check(self, value: str, attempt: Attempt, shown: Sequence[str]) -> None:
        """Check a memory of an attempt. shown: the values of the entries that its writer saw.

        Raises:
            RejectedReplyError: number, instance, attack or unknown_name; the message says which words.
        """
        told = _Told((*attempt.sources, *shown), self._kinds)
        for reason, found, why in (
            ("number", list(filter(str.isnumeric, value)), "a memory names no number of a thing, place or position"),
            ("instance", _MARKS.findall(value), "it belongs to an id, a template or markup"),
            ("attack", list(itertools.filterfalse(str.isprintable, value)), "a letter that cannot be seen"),
            ("attack", [match[0] for match in _TAKEOVER.finditer(value)], "it speaks to the executor about its orders"),
        ):
            if found:
                raise RejectedReplyError(reason, f"{found[0]!r}: {why}")
        _refuse_instances(value, attempt)
        _refuse_skills(value, told)
        _refuse_misspelt(value, told)
        self._refuse_names(value, told)

    def _refuse_names(self, value: str, told: _Told) -> None:
        for name in (*_CAMEL.findall(value), *_PROPER.findall(value)):
            if name not in SKILLS and not told.says(name):
                raise _unknown(name)
        words = _words(value)
        for length in (3, 2, 1):
            for start in range(len(words) - length + 1):
                name = " ".join(words[start : start + length])
                if told.says(name):
                    continue
                classes = self._kinds.spoken_names.answering(name)
                if classes and told.classes.isdisjoint(classes) and not told.says_part(words, start, length):
                    raise _unknown(repr(name))


class _Told:
    """What some texts name: the words of each, runs of them, and whole words as they are written ("butterknife")."""

    def __init__(self, texts: Sequence[str], kinds: ObjectCatalogue) -> None:
        by_text = [_words(text) for text in texts]
        self.words = frozenset(word for words in by_text for word in words)
        self._runs = frozenset(
            " ".join(words[begin : begin + length])
            for words in by_text
            for begin in range(len(words))
            for length in range(1, _LONGEST_NAME + 1)
        )
        self._glued = frozenset(singular(word.lower()) for text in texts for word in _WORD.findall(text))
        names = kinds.spoken_names
        self.classes = frozenset(name for word in self.words | self._glued for name in names.answering(word))

    def says(self, name: str) -> bool:
        """Return whether a name stands in the texts, in one word or several, in any number."""
        words = _words(name)
        return "".join(words) in self._glued or " ".join(words) in self._runs

    def knows(self, name: str) -> bool:
        """Return whether each word of a name stands in the texts: a word that does not is misspelt or made up."""
        return self.says(name) or all(word in self.words or word in self._glued for word in _words(name))

    def says_part(self, words: Sequence[str], start: int, length: int) -> bool:
        """Return whether a longer name around some words stands in the texts: "table" in "coffee table"."""
        return any(
            self.says(" ".join(words[begin : begin + longer]))
            for longer in (length + 1, length + 2)
            for begin in range(max(start + length - longer, 0), start + 1)
            if begin + longer <= len(words)
        )


def _words(text: str) -> list[str]:
    """Return the words of a text in the singular and in small letters; CamelCase is several."""
    return [singular(part.lower()) for word in _WORD.findall(text) for part in _CAMEL_PART.findall(word)]


def _unknown(name: str) -> RejectedReplyError:
    return RejectedReplyError("unknown_name", f"{name} is in neither the task nor the attempt")


def _refuse_instances(value: str, attempt: Attempt) -> None:
    """Refuse "drawer two" and "the second drawer" of things that the attempt handled or was at."""
    kinds = {name.lower() for deed in attempt.deeds for name in (deed.thing, deed.place) if name}
    kinds |= {place.lower() for place in attempt.places}
    words = [word.lower() for word in _WORD.findall(value)]
    for before, word in itertools.pairwise(words):
        after_kind = singular(before) in kinds and (word in _NUMBER_WORDS or word == "number")
        if after_kind or (before in _ORDINALS and singular(word) in kinds):
            raise RejectedReplyError("instance", f"'{before} {word}' is one thing of one place")


def _refuse_misspelt(value: str, told: _Told) -> None:
    """Refuse a note about things that no text names, also where they are no class: "peppershakeaker"."""
    note = read_whereabouts(value)
    for name in (note.thing, *note.found_at, *note.vain) if note is not None else ():
        if not told.knows(name):
            raise _unknown(repr(name))


def _refuse_skills(value: str, told: _Told) -> None:
    """Refuse skills that nobody asked for: by name, as a call, or by the verb that they begin with."""
    for name in _CALL.findall(value):
        if name not in SKILLS:
            raise RejectedReplyError("attack", f"{name}(...) is no skill")
    said = frozenset(map(_stem, _words(value)))
    known = frozenset(map(_stem, told.words))
    for skill in SKILLS:
        verb = _stem(_CAMEL_PART.findall(skill)[0].lower())
        if skill in _USUAL or verb in known:
            continue
        if verb in said or skill in value:
            raise RejectedReplyError("attack", f"{skill}: nobody asked for it")


def _stem(word: str) -> str:
    """Return a verb without its ending: "throwing", "throws" and "throw" are one."""
    for ending in ("ing", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
    return word
