"""Puts an instruction into plain words: what tells a thing from others of its class is kept apart from its name; what
people said in passing with earlier instructions, of things and of occasions, is known again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from memory_node.knowledge.text import sentences, stems
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.english import PUNCTUATION, English, past, words_of
from memory_node.planner.reading.lexicon import Lexicon

_SPEAKER = frozenset({"i", "we"})
_MANY = frozenset({"they", "these", "those", "both"})
_ONE = frozenset({"it", "this", "that"})
# Words between an article and a noun: "the black dog statue".
_ADJECTIVES = 3
# Share of the words for a thing, and of those for an occasion, that were said of what is meant.
_OF_A_THING, _OF_AN_OCCASION = 0.5, 0.3
# What fits best has a word that is said of nothing else, or several of few, and so many times the next one's.
_OWN_WORD, _CLEARLY = 1.0, 2.0
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class SaidOf:
    """What one earlier instruction says of a thing. words: stems. source: the instruction."""

    class_name: str
    words: frozenset[str]
    source: str


@dataclass(frozen=True)
class Occasion:
    """For what an earlier instruction was given. words: stems; commands: what was to be done; handled: the classes of
    its things; source: the instruction."""

    words: frozenset[str]
    commands: str
    handled: frozenset[str]
    source: str


class SaidInPassing:
    """Reads earlier instructions, the newest last. things: what was said of which; occasions: for what they were."""

    def __init__(self, said: Sequence[str], lexicon: Lexicon, english: English) -> None:
        self._lexicon, self._english = lexicon, english
        self.things: list[SaidOf] = []
        self.occasions: list[Occasion] = []
        for instruction in said:
            self._read(instruction)

    def _read(self, instruction: str) -> None:
        commands: list[str] = []
        passing: list[list[str]] = []
        for sentence in sentences(instruction):
            words = words_of(sentence)
            if self._is_passing(words):
                passing.append(words)
            else:
                commands.append(sentence)
        handled = list(dict.fromkeys(name for one in commands for name, _ in self._named(words_of(one))))
        found: dict[str, set[str]] = {}
        for words in passing:
            if _SPEAKER & set(words):
                said = frozenset(stems(" ".join(words)))
                self.occasions.append(Occasion(said, " ".join(commands), frozenset(handled), instruction))
                continue
            for names, predicate in self._statements(words, handled, found):
                for name in names:
                    found.setdefault(name, set()).update(stems(" ".join(predicate)))
        self.things += [SaidOf(name, frozenset(words), instruction) for name, words in found.items()]

    def _is_passing(self, words: Sequence[str]) -> bool:
        is_asked = words[:1] and words[0] in self._english.auxiliaries  # "can we move the vase?"
        speaks_of_itself = bool(_SPEAKER & set(words)) and not is_asked
        return speaks_of_itself or next(self._subjects(words), None) is not None or self._says_at(words) > 0

    def _says_at(self, words: Sequence[str]) -> int:
        """Return where it is said what a thing is that has no class's name: "The notebook is ..."; 0 for no such
        sentence."""
        if words[:1] and words[0] in self._english.definite:
            for at in range(2, min(_ADJECTIVES + 3, len(words))):
                if words[at] in self._english.says:
                    return at
        return 0

    def _statements(
        self, words: Sequence[str], handled: Sequence[str], spoken_of: Mapping[str, Collection[str]]
    ) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """Yield (classes, words said of them) of a sentence such as "The mug is red, and the jug and the cup are".

        spoken_of: classes, with the stems of what was said of them.
        """
        found = list(self._subjects(words))
        says_at = 0 if found else self._says_at(words)
        if says_at:  # what the thing was called in a sentence before: "The book is a red notebook. The notebook is ..."
            called = set(stems(" ".join(words[1:says_at])))
            so_called = [name for name, said in spoken_of.items() if called <= set(said)]
            if called and len(so_called) == 1:
                yield so_called, words[1:]
        for number, (begin, end, names) in enumerate(found):
            until = found[number + 1][0] if number + 1 < len(found) else len(words)
            meant = names or (handled if words[begin] in _MANY else list(spoken_of)[-1:] or handled[:1])
            # Adjectives of the subject are said of it, too: "the dog statue is a souvenir".
            yield meant, [*words[begin:end], *words[end:until]]

    def _subjects(self, words: Sequence[str]) -> Iterator[tuple[int, int, list[str]]]:
        """Yield (begin, end, classes) of what something is said of; no classes for a pronoun."""
        at = 0
        while at < len(words):
            found = self._subject_at(words, at)
            if found is not None:
                yield at, found[0], found[1]
                at = found[0]
            at += 1

    def _subject_at(self, words: Sequence[str], at: int) -> tuple[int, list[str]] | None:
        if at == 0 and words[at] in _MANY | _ONE and words[at + 1 : at + 2] and words[at + 1] in self._english.says:
            return at + 1, []
        end, names = at, list[str]()
        while end < len(words) and (words[end] in self._english.definite or names):
            noun = self._noun_at(words, end + (words[end] in self._english.definite))
            if noun is None:
                break
            names.append(noun[0])
            end = past(words, noun[1], ("and", ","))
        is_subject = (
            bool(names) and end < len(words) and words[end] in self._english.says and words[end - 1] not in ("and", ",")
        )
        return (end, names) if is_subject else None

    def _noun_at(self, words: Sequence[str], at: int) -> tuple[str, int] | None:
        """Return the class of a noun with at most three adjectives, and where it ends."""
        for start in range(at, min(at + _ADJECTIVES + 1, len(words))):
            if words[start] in PUNCTUATION or words[start] in self._english.function_words:
                return None
            named = self._lexicon.name_at(words, start)
            if named is not None:
                return named[0].all[0], start + named[1]
        return None

    def _named(self, words: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Yield (class, place) of each thing that can be carried and that words name."""
        at = 0
        while at < len(words):
            named = self._lexicon.name_at(words, at)
            if named is not None and self._lexicon.is_carried(named[0]):
                yield named[0].all[0], at
            at += named[1] if named is not None else 1

    # --- what is meant now

    def of_class(self, words: frozenset[str], class_name: str, sentence: str) -> frozenset[str]:
        """Return all that was said of the one thing of a class that some of it means; empty for none or several. Of
        several the one counts whose instruction is most like the sentence."""
        alike = [one for one in self.things if one.class_name == class_name]
        best = _best([(one.words, one) for one in alike], words, _OF_A_THING)
        meant = best if len(best) < 2 else _best([(_stems(one.source), one) for one in best], _stems(sentence), 0.0)
        return meant[0].words if len(meant) == 1 else frozenset()

    def together(self, words: frozenset[str], sentence: str) -> list[SaidOf]:
        """Return the things of one instruction of which all these words were said: "my work setup". Of several
        instructions the one counts that is most like the sentence."""
        found: dict[str, list[SaidOf]] = {}
        for one in self.things if words else ():
            if words <= one.words:
                found.setdefault(one.source, []).append(one)
        if len(found) > 1:
            like = _best([(_stems(source), source) for source in found], _stems(sentence), 0.0)
            found = {source: found[source] for source in like}
        return next(iter(found.values())) if len(found) == 1 else []

    def occasion_of(self, sentence: str) -> Occasion | None:
        """Return the one occasion that a sentence names, of those on which all its things were handled; None for none
        or several."""
        words = words_of(sentence)
        named = {name for name, _ in self._named(words)}
        known = [(one.words, one) for one in self.occasions if one.commands and named <= one.handled]
        wanted = _stems(" ".join(word for word in words if not self._english.is_verb(word)))
        best = _best(known, wanted, _OF_AN_OCCASION)
        return best[0] if len(best) == 1 else None


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def _best(known: Sequence[tuple[frozenset[str], _Value]], wanted: frozenset[str], share: float) -> list[_Value]:
    """Return the values whose words fit the wanted ones best; a word counts the less, the more values have it, and
    nothing where all of several have it.

    Several where they fit nearly as well; none where the best has less than a share of the wanted words, or none of its
    own.
    """
    times = Counter(word for words, _ in known for word in words & wanted)
    weights = {word: 1.0 / number for word, number in times.items() if number < len(known) or number == 1}
    scores = [(sum(weights.get(word, 0.0) for word in words & wanted), words, value) for words, value in known]
    top, words, _ = max(scores, key=lambda one: one[0], default=(0.0, frozenset(), None))
    if not words or len(words & wanted) < share * len(wanted):
        return []
    best = [value for score, _, value in scores if score == top or score > top / _CLEARLY]
    return best if len(best) > 1 or top >= _OWN_WORD else []


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
