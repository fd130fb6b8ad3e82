"""Which words are known at all: to the grammar's English, or as parts of a label space's names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memory_node.catalogue.treatment import Treatment
from memory_node.domain.nouns import singular
from memory_node.planner.language.english import English
from memory_node.planner.language.lexicon import Lexicon


class KnownWords:
    """Tells words that nobody taught the robot: what they ask for can only be guessed."""

    def __init__(self, lexicon: Lexicon, english: English, treatments: Sequence[Treatment]) -> None:
        self._lexicon = lexicon
        self._english = english
        self._treatments = treatments
        fields = (getattr(english, field.name) for field in dataclasses.fields(english))
        self._known = frozenset(word for field in fields for word in _words_in(field))

    def strange(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the words that are unknown; adverbs and numbers never are."""
        return tuple(word for at, word in enumerate(words) if not self._is_known(words, at))

    def _is_known(self, words: Sequence[str], at: int) -> bool:
        word, one = words[at], singular(words[at])
        if not word[0].isalpha() or word.endswith("ly") or self._lexicon.name_at(words, at) is not None:
            return True
        known = bool({word, one} & (self._known | self._lexicon.words)) or self._lexicon.group(word) is not None
        return known or bool(self._english.base_form(word, participle=True)) or self._tells_of_treatment(word)

    def _tells_of_treatment(self, word: str) -> bool:
        return any(one.is_spoken_of(word) for one in self._treatments)


def _words_in(field: object) -> Iterator[str]:
    """Yield the words of a set, a sequence or the keys of a table, however deep."""
    if isinstance(field, str):
        yield from field.lower().replace("*", "").split()
    elif isinstance(field, Mapping):
        for key in field:
            yield from _words_in(key)
    elif isinstance(field, Iterable):
        for item in field:
            yield from _words_in(item)
