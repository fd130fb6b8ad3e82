"""What people said in passing with earlier instructions: of which things, and of which occasion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory_node.knowledge.text.sentences import sentences
from memory_node.knowledge.text.words import stems
from memory_node.planner.reading.english import PUNCTUATION, English
from memory_node.planner.reading.lexicon import Lexicon
from memory_node.planner.reading.words import words_of

_SPEAKER = frozenset({"i", "we"})
_MANY = frozenset({"they", "these", "those", "both"})
_ONE = frozenset({"it", "this", "that"})
# Words between an article and a noun: "the black dog statue".
_ADJECTIVES = 3
# Share of the words for a thing, and of those for an occasion, that were said of what is meant.
_OF_A_THING, _OF_AN_OCCASION = 0.5, 0.3
# What fits best has a word that is said of nothing else, or several of few, and so many times the next one's.
_OWN_WORD, _CLEARLY = 1.0, 1.5
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class SaidOf:
    """What one earlier instruction says of a thing. words: stems. source: the instruction's number."""

    class_name: str
    words: frozenset[str]
    source: int


@dataclass(frozen=True)
class Occasion:
    """For what an earlier instruction was given. words: stems; commands: what was to be done."""

    words: frozenset[str]
    commands: str


class SaidInPassing:
    """Reads earlier instructions, the newest last. things: what was said of which; occasions: for what they were."""

    def __init__(self, said: Sequence[str], lexicon: Lexicon, english: English) -> None:
        self._lexicon, self._english = lexicon, english
        self.things: list[SaidOf] = []
        self.occasions: list[Occasion] = []
        for source, instruction in enumerate(said):
            self._read(source, instruction)

    def _read(self, source: int, instruction: str) -> None:
        commands: list[str] = []
        passing: list[list[str]] = []
        for sentence in sentences(instruction):
            words = words_of(sentence)
            if self._is_passing(words):
                passing.append(words)
            else:
                commands.append(sentence)
        handled = list(dict.fromkeys(name for one in commands for name, _ in self._named(words_of(one))))
        found: dict[str, Counter[str]] = {}
        for words in passing:
            if _SPEAKER & set(words):
                self.occasions.append(Occasion(frozenset(stems(" ".join(words))), " ".join(commands)))
                continue
            for names, predicate in self._statements(words, handled, list(found)):
                for name in names:
                    found.setdefault(name, Counter()).update(stems(" ".join(predicate)))
        self.things += [SaidOf(name, frozenset(words), source) for name, words in found.items()]

    def _is_passing(self, words: Sequence[str]) -> bool:
        is_asked = words[:1] and words[0] in self._english.auxiliaries  # "can we move the vase?"
        speaks_of_itself = bool(_SPEAKER & set(words)) and not is_asked
        return speaks_of_itself or next(self._subjects(words), None) is not None

    def _statements(
        self, words: Sequence[str], handled: Sequence[str], spoken_of: Sequence[str]
    ) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """Yield (classes, words said of them) of a sentence such as "The mug is red, and the jug and the cup are"."""
        found = list(self._subjects(words))
        for number, (begin, end, names) in enumerate(found):
            until = found[number + 1][0] if number + 1 < len(found) else len(words)
            meant = names or (handled if words[begin] in _MANY else spoken_of[-1:] or handled[:1])
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
            end = noun[1]
            while end < len(words) and words[end] in ("and", ",") and words[end] != ".":
                end += 1
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

    def of_class(self, words: frozenset[str], class_name: str) -> frozenset[str]:
        """Return all that was said of the one thing of a class that some of it means; empty for none or several."""
        alike = [one for one in self.things if one.class_name == class_name]
        return _clearest([(one.words, one.words) for one in alike], words, _OF_A_THING) or frozenset()

    def together(self, words: frozenset[str]) -> list[SaidOf]:
        """Return the things of one instruction of which all these words were said: "my work setup"."""
        sources = {one.source: [other for other in self.things if other.source == one.source] for one in self.things}
        meant = {source: [one for one in many if words <= one.words] for source, many in sources.items()}
        found = [many for many in meant.values() if many]
        return found[0] if words and len(found) == 1 else []

    def commands_for(self, sentence: str) -> str:
        """Return what was to be done on the one occasion that a sentence names; "" for none or several."""
        known = [(one.words, one.commands) for one in self.occasions if one.commands]
        words = [word for word in words_of(sentence) if not self._english.is_verb(word)]
        return _clearest(known, frozenset(stems(" ".join(words))), _OF_AN_OCCASION) or ""


def _clearest(known: Sequence[tuple[frozenset[str], _Value]], wanted: frozenset[str], share: float) -> _Value | None:
    """Return the value whose words clearly fit the wanted ones best; a word counts the less, the more values have it.

    None where it has less than a share of the wanted words, none of its own, or another fits nearly as well.
    """
    times = Counter(word for words, _ in known for word in words & wanted)
    scores = [(sum(1.0 / times[word] for word in words & wanted), len(words & wanted), value) for words, value in known]
    scores.sort(key=lambda one: -one[0])
    if not scores or scores[0][0] < _OWN_WORD or scores[0][1] < share * len(wanted):
        return None
    return scores[0][2] if len(scores) == 1 or scores[0][0] >= _CLEARLY * scores[1][0] else None
