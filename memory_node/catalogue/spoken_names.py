"""Finds the classes that people's words may mean by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from memory_node.catalogue.class_name import folded, spoken
from memory_node.catalogue.object_kind import ObjectKind
from memory_node.domain.names import singular
from memory_node.domain.skill_library import SKILLS

_ARTICLES = frozenset(("a", "an", "the", "some", "my", "your"))
_SKILLS_IN_WORDS = frozenset(spoken(name).lower() for name in SKILLS)
_RARE = 100  # rank of the names of classes that people seldom mean


class SpokenNames:
    """Names and synonyms of kinds; a class for which a name is its first comes before one that also answers to it."""

    def __init__(self, kinds: Iterable[ObjectKind]) -> None:
        ranked: dict[str, list[tuple[int, str]]] = {}
        for kind in sorted(kinds, key=lambda kind: kind.name):
            called = (*kind.names, kind.name.lower()) if kind.names else ()
            for rank, name in enumerate(called):
                ranked.setdefault(_plain(name), []).append((rank if kind.everyday else _RARE, kind.name))
        self._ranked = {name: sorted(entries) for name, entries in ranked.items()}
        self._spelt: dict[str, list[tuple[int, str]]] = {}
        for name, entries in self._ranked.items():
            self._spelt[folded(name)] = sorted({*self._spelt.get(folded(name), ()), *entries})
        self._longest = max((len(name.split()) for name in self._ranked), default=0)

    def classes(self, phrase: str) -> tuple[str, ...]:
        """Return the classes that a phrase may mean, best first; its longest and last name decides."""
        words = _plain(phrase).split()
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length, -1, -1):
                found = self._ranked.get(" ".join(words[start : start + length]))
                if found:
                    return tuple(dict.fromkeys(name for _, name in found))
        return ()

    def named_in(self, text: str) -> list[tuple[str, ...]]:
        """Return the classes that each name in a text may mean, best first; the names in the order of their last words.
        A name within a longer one names nothing: no butter in a "butter knife"."""
        words = [_plain(word.lower()) for word in _written(text)]
        names = (" ".join(words[start:end]) for start, end in self._spans(words))
        return [tuple(dict.fromkeys(found for _, found in self._ranked[name])) for name in names]

    def without_names(self, text: str, instead: str) -> str:
        """Return a text with a word in the place of each name and of the articles before it; of its punctuation the
        commas stay."""
        words, kept, last = _written(text), [], 0
        for start, end in self._spans([_plain(word.lower()) for word in words]):
            before = words[last : max(start, last)]
            while before and before[-1].lower() in _ARTICLES:
                before.pop()
            kept += [*before, instead]
            last = end
        return " ".join((*kept, *words[last:])).replace(" ,", ",")

    def _spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Return where names are, (begin, end) in words, in the order of their last words; none within another, and no
        word that says a skill: "switch on" names no switch, and "the switch on" does."""
        spans = [
            (start, start + length)
            for start in range(len(words))
            for length in range(1, min(self._longest, len(words) - start) + 1)
            if " ".join(words[start : start + length]) in self._ranked
            and (words[max(start - 1, 0)] in _ARTICLES or " ".join(words[start : start + 2]) not in _SKILLS_IN_WORDS)
        ]
        whole = [one for one in spans if not any(_is_within(one, other) for other in spans)]
        return sorted(whole, key=lambda span: span[1])

    def only_class(self, label: str) -> str:
        """Return the class that a whole name means before all others, however that is spelt; "" where none does, or two
        do alike."""
        found = self._entries(label)
        if not found or (len(found) > 1 and found[0][0] == found[1][0] and found[0][1] != found[1][1]):
            return ""
        return found[0][1]

    def answering(self, label: str) -> tuple[str, ...]:
        """Return the classes that answer to a whole name, best first, however that is spelt."""
        return tuple(dict.fromkeys(name for _, name in self._entries(label)))

    def _entries(self, label: str) -> list[tuple[int, str]]:
        return self._spelt.get(folded(label)) or self._spelt.get(folded(_plain(spoken(label))), [])


def _written(text: str) -> list[str]:
    """Return the words of a text as they are written, without the punctuation around them; a comma is one."""
    return [word.strip(".!?;:\"'") for word in text.replace(",", " , ").split()]


def _is_within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


@lru_cache(maxsize=4096)  # each frame asks of what a detector sees
def _plain(name: str) -> str:
    return " ".join(singular(word) for word in name.replace("'s", "").split())
