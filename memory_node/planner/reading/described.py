"""Puts an instruction into plain words: what tells a thing from others of its class is kept apart from its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.knowledge.text.words import stems
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.english import PUNCTUATION, English
from memory_node.planner.reading.lexicon import Lexicon
from memory_node.planner.reading.passing import SaidInPassing
from memory_node.planner.reading.words import words_of

# What is said behind a noun begins so: "the vase with a narrow neck", "the clock gifted by my brother".
_BEHIND = frozenset(["with", "from", "of", "by", "for", "gifted", "given", "featuring", "called", "named"])


@dataclass(frozen=True)
class PlainWords:
    """An instruction in plain words. looks: by class, what was said of the thing that is meant, stems; a class of which
    two different things are meant is in `unclear`. renamed: things stand for what they were called in passing;
    occasion: the earlier instruction whose occasion is named, whose commands are the text; "" for none.
    """

    text: str
    looks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unclear: frozenset[str] = frozenset()
    renamed: bool = False
    occasion: str = ""

    def with_looks(self, goals: Sequence[Goal]) -> tuple[Goal, ...]:
        """Return goals whose mentions know what was said of their things."""
        return tuple(goal.with_mentions(self._known) for goal in goals)

    def _known(self, mention: Mention) -> Mention:
        looks = self.looks.get(mention.object_class)
        return replace(mention, looks=looks) if looks else mention


def joined(parts: Sequence[PlainWords]) -> PlainWords:
    """Return sentences that follow each other as one; none of an occasion."""
    looks: dict[str, frozenset[str]] = {}
    unclear: set[str] = set()
    for part in parts:
        unclear |= part.unclear | {name for name, said in part.looks.items() if looks.get(name, said) != said}
        looks |= part.looks
    renamed = any(part.renamed for part in parts)
    return PlainWords(" ".join(part.text for part in parts), looks, frozenset(unclear), renamed)


@dataclass
class _Span:
    """A noun phrase: [begin, end) of the words; nouns: (class, name) of its things; rest: the words beside them."""

    begin: int
    end: int
    nouns: list[tuple[str, str]]
    rest: list[str]


class Describing:
    """Finds noun phrases by their names and by what was said in passing."""

    def __init__(self, lexicon: Lexicon, english: English, passing: SaidInPassing) -> None:
        self._lexicon, self._english, self._passing = lexicon, english, passing

    def plain(self, text: str) -> PlainWords:
        """Return an instruction in plain words."""
        words, at = words_of(text), 0
        told: list[str] = []
        looks: dict[str, frozenset[str]] = {}
        unclear: set[str] = set()
        renamed = False
        while at < len(words):
            span = self._span(words, at, text)
            if span is None:
                told.append(words[at])
                at += 1
                continue
            for class_name, meant in self._meant(span, told, text):
                if looks.get(class_name, meant) != meant:
                    unclear.add(class_name)
                looks[class_name] = meant
            renamed |= not span.nouns
            at = span.end
        return PlainWords(" ".join(told) if looks else text, looks, frozenset(unclear), renamed)

    def _meant(self, span: _Span, told: list[str], text: str) -> list[tuple[str, frozenset[str]]]:
        """Add a phrase of a text in plain words; return what was said of each of its things."""
        said = frozenset(stems(" ".join(span.rest)))
        if span.nouns:
            told += " and ".join(f"the {name}" for _, name in span.nouns).split()
            return [(name, said | self._passing.of_class(said, name, text)) for name, _ in span.nouns]
        things = self._passing.together(said, text)
        told += " and ".join(f"the {self._lexicon.best_name(one.class_name)}" for one in things).split()
        return [(one.class_name, one.words) for one in things]

    def _span(self, words: Sequence[str], at: int, text: str) -> _Span | None:
        """Return the phrase of a text that begins at an article or a possessive and says more than a name; None for
        others, and for a place."""
        if words[at] not in self._english.definite or words[at] in ("their", "its"):
            return None
        span, names_place = _Span(at, at + 1, [], []), False
        while span.end < len(words) and not self._ends(words, span):
            end = span.end
            named = self._lexicon.name_at(words, end)
            is_place = named is not None and self._lexicon.is_furniture(named[0])
            names_place |= not span.nouns and (is_place or self._lexicon.room_at(words, end) is not None)
            if named is not None and self._lexicon.is_carried(named[0]) and not _has_more(span):
                span.nouns.append((named[0].all[0], " ".join(words[end : end + named[1]])))
                span.end += named[1]
                if words[span.end : span.end + 1] == ["and"] and self._lexicon.name_at(words, span.end + 1):
                    span.end += 1  # "the cup and plate"
                continue
            if span.nouns and not _has_more(span) and words[end] not in _BEHIND:
                break
            span.rest.append(words[end])
            span.end += 1
        said = frozenset(stems(" ".join(span.rest)))
        if names_place if span.nouns else not self._passing.together(said, text):
            return None
        return span if said else None

    def _ends(self, words: Sequence[str], span: _Span) -> bool:
        at = span.end
        word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
        if word == "," and span.rest and self._describes(words, at + 1):
            return False  # "a smooth, circular design"
        if word in PUNCTUATION or word in ("then", "finally"):
            return True
        if word in ("and", "or"):
            return following in self._english.definite or following == "then" or self._english.is_verb(following)
        return self._english.prepositions.at(words, at) is not None and self._is_place(words, at)

    def _describes(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word may be one more adjective: a word that nobody knows, and another one behind it."""
        english, following = self._english, words[at : at + 2]
        small = PUNCTUATION | english.function_words | english.fillers
        if len(following) < 2 or not small.isdisjoint(following) or self._lexicon.name_at(words, at) is not None:
            return False
        return not (english.is_verb(following[0]) or english.base_form(following[0]))

    def _is_place(self, words: Sequence[str], at: int) -> bool:
        """Return whether a preposition leads to furniture, a room or another thing: "to the bedroom table"."""
        if words[at] in ("next", "there", "beside"):
            return True
        found = self._english.prepositions.at(words, at)
        start = at + (found[1] if found is not None else 1)
        for place in range(start, len(words)):
            if words[place] in PUNCTUATION or words[place] in ("and", "then"):
                return False
            if place > start and self._english.prepositions.at(words, place) is not None:
                return False
            named = self._lexicon.name_at(words, place)
            if self._lexicon.room_at(words, place) or (named is not None and self._lexicon.is_furniture(named[0])):
                return True
        return False


def _has_more(span: _Span) -> bool:
    """Return whether what is said behind the noun has begun."""
    return bool(span.nouns) and not _BEHIND.isdisjoint(span.rest)
