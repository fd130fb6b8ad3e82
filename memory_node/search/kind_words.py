"""Requests for a kind of thing by a noun and what describes it: "a leafy vegetable", "a drink with caffeine"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memory_node.search.request_words import bare_name, content_tokens, tokens

_PART_OF_KIND = re.compile(r"^((?:an?|some|any|one)\s+)?(?:pieces?|kinds?|types?|sorts?|bits?|pairs?)\s+of\s+", re.I)
_WITH = re.compile(r"\s+(?:with|without|made\s+(?:of|from)|of)\s+", re.IGNORECASE)
# "Some caffeine" asks for a kind of thing, not for a thing of that name.
_OF_A_KIND = frozenset({"some", "any"})
# Adjectives that tell things of one kind apart, and no kinds.
_ANY_QUALITY = frozenset(
    tokens(
        "small big large little tiny huge long short new old nice good better best favourite favorite other same"
        " different usual own normal ordinary whole entire right certain spare second another clean dirty washed"
        " unwashed used broken empty full open closed"
    )
)
# What tells how a thing looks; names of kinds have other words before their last.
_ANY_LOOK = frozenset(
    tokens(
        "red green blue yellow black white brown grey gray orange pink purple silver gold golden beige dark bright"
        " light colourful colorful round square flat tall short wide narrow thick thin heavy soft hard wooden metal"
        " plastic leather pretty beautiful ugly cute fancy modern antique cheap expensive"
    )
)
# And what tells where it is.
_ANY_WHERE = frozenset(
    tokens("bedside top bottom upper lower front back rear middle left right corner upstairs downstairs")
)
_STANDING_IN = frozenset(tokens("place spot"))


@lru_cache(maxsize=4096)
def kind_of(text: str) -> tuple[str, ...]:
    """Return the words of a name or a kind, its head last: ("leafy", "vegetable") of "a leafy vegetable"; () for a text
    that is more: what a gloss says a thing is ("a rubber cup on a stick") is not what people call it."""
    return bare_name(_PART_OF_KIND.sub(r"\1", text))


class KindWords:
    """What the texts of classes say of their kinds, by class number."""

    def __init__(self, texts: Iterable[Sequence[str]], rooms: Iterable[str] = ()) -> None:
        """texts: by class; rooms: names of rooms, which tell where a thing is and not what it is."""
        self._rooms = frozenset(word for room in rooms for word in tokens(room))
        self._heads: dict[str, list[int]] = {}
        self._words: dict[str, list[int]] = {}
        self._count = 0
        for number, group in enumerate(texts):
            for head in {kind[-1] for kind in map(kind_of, group) if kind}:
                self._heads.setdefault(head, []).append(number)
            for word in {word for text in group for word in content_tokens(text)}:
                self._words.setdefault(word, []).append(number)
            self._count = number + 1

    def missing(self, text: str) -> NDArray[np.float64]:
        """Return by class number (n,) how much of the kind that a text asks for no text of the class tells: 1 where
        none has its head, up to 2 more for the share of the words beside it that none has; 0 for a text that asks for
        no kind by its name.

        A dustpan is no dustbin, whatever it sounds like, and a tomato no root vegetable.
        """
        share = np.zeros(self._count)
        if _OF_A_KIND & set(text.lower().split()[:1]):
            return share
        plain = _PART_OF_KIND.sub(r"\1", text)
        noun, *told = _WITH.split(plain, maxsplit=1)
        name = bare_name(plain) or bare_name(noun)
        if not name or name[-1] in _STANDING_IN:
            return share
        share[:] = 1.0
        share[self._heads.get(name[-1], [])] = 0.0
        beside = (
            [*name[:-1], *(word for words in told for word in content_tokens(words))] if name[-1] in self._heads else []
        )
        beside = [word for word in dict.fromkeys(beside) if word not in _ANY_QUALITY]
        for word in beside:
            lacks = np.ones(self._count)
            lacks[self._words.get(word, [])] = 0.0
            share += 2.0 / len(beside) * lacks
        return share

    def is_other(self, text: str) -> NDArray[np.bool_]:
        """Return by class number (n,) whether a name has a word before its last that tells of a kind and that no text
        of the class has: a milk bottle may be no wine bottle. Nowhere for a text that is no name."""
        found = np.zeros(self._count, dtype=np.bool_)
        for word in bare_name(text)[:-1]:
            if word not in _ANY_QUALITY | _ANY_LOOK | _ANY_WHERE | self._rooms:
                lacks = np.ones(self._count, dtype=np.bool_)
                lacks[self._words.get(word, [])] = False
                found |= lacks
        return found
