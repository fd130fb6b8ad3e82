"""The words of an instruction, and English's small ones: which stand for which verbs, places and turns of speech."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ATTRIBUTES, STATE_CALLED, adjective_of

INTO, NEAR, FROM, WITH, UNDER, FOR = "into", "near", "from", "with", "under", "for"
PUNCTUATION = frozenset(",.;:!?")

Words = tuple[str, ...]


@dataclass(frozen=True)
class Verb:
    """What a verb asks for. treatment: the catalogue's that it names. way: how the goal is reached, where the kind
    does not tell: "back", "away", "bin".
    """

    kind: GoalKind
    treatment: str = ""
    way: str = ""


class Phrases:
    """Word sequences, looked up at a position; the longest counts."""

    def __init__(self, values: Mapping[Words, Any]) -> None:
        self._values = values
        self._longest: dict[str, int] = {}
        for words in values:
            self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))

    @classmethod
    def of(cls, phrases: Iterable[str]) -> Phrases:
        """Return phrases that stand for nothing but themselves."""
        return cls({tuple(one.split()): True for one in phrases})

    def at(self, words: Sequence[str], at: int) -> tuple[Any, int] | None:
        """Return the value of the longest phrase that begins at a word, and how many words it has."""
        longest = self._longest.get(words[at], 0) if at < len(words) else 0
        for length in range(min(longest, len(words) - at), 0, -1):
            value = self._values.get(tuple(words[at : at + length]))
            if value is not None:
                return value, length
        return None

    def length_at(self, words: Sequence[str], at: int) -> int:
        """Return how many words of a phrase stand at a word, 0 for none."""
        found = self.at(words, at)
        return found[1] if found is not None else 0


def past(words: Sequence[str], at: int, among: Container[str]) -> int:
    """Return where a run of some words ends that begins at a word; the word itself where another stands there."""
    while at < len(words) and words[at] in among:
        at += 1
    return at


class English:
    """english.yaml with the treatments of a label space, indexed."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self.data = data = _data()
        self.states = ATTRIBUTES
        self.asked = {word: adjective_of(state) for word, state in STATE_CALLED.items()}
        self.wanted = {word: GoalKind(kind) for word, kind in data["wanted"].items()}
        self.numbers: dict[str, int] = data["numbers"]
        self.prepositions = Phrases(
            {tuple(one.split()): sense for sense, many in data["prepositions"].items() for one in many}
        )
        self.directed = frozenset(data["directed"])
        for name, made in English.__annotations__.items():  # each is a key of the file
            words = _words_of(data[name])
            setattr(self, name, frozenset(words) if made == "frozenset[str]" else Phrases.of(words))
        self._fill_verbs(kinds)
        self.determiners = self.definite | _INDEFINITE
        self.function_words = frozenset(PUNCTUATION).union(
            *(self.small, self.determiners, self.pronouns, self.people, self.subjects, self.auxiliaries, self.joining),
            *(self.particles, self.negative, self.fillers, self.relative, self.posed, self.saying, self.acting),
            self.obliging,
        )
        self.known_words = self.function_words.union(self.verbs, self.phrasal_verbs, self.attributes, self.states)

    small: frozenset[str]
    fillers: frozenset[str]
    attributes: frozenset[str]
    every: frozenset[str]
    definite: frozenset[str]
    pronouns: frozenset[str]
    plural: frozenset[str]
    people: frozenset[str]
    subjects: frozenset[str]
    auxiliaries: frozenset[str]
    obliging: frozenset[str]
    negative: frozenset[str]
    particles: frozenset[str]
    pieces: frozenset[str]
    parts: frozenset[str]
    attached: frozenset[str]
    matter: frozenset[str]
    generic: frozenset[str]
    relative: frozenset[str]
    posed: frozenset[str]
    joining: frozenset[str]
    to_user: frozenset[str]
    seeking: frozenset[str]
    causing: frozenset[str]
    yes: frozenset[str]
    later: frozenset[str]
    conditions: frozenset[str]
    time_units: frozenset[str]
    day_parts: frozenset[str]
    saying: frozenset[str]
    acting: frozenset[str]
    measures: frozenset[str]
    lying: frozenset[str]
    motion: frozenset[str]
    its_place: frozenset[str]
    underfoot: frozenset[str]
    time_prepositions: frozenset[str]
    on_the_way: frozenset[str]
    before_deed: frozenset[str]
    behind_deed: frozenset[str]
    before_state: frozenset[str]
    question_tails: frozenset[str]
    having: frozenset[str]
    weighty: frozenset[str]
    says: frozenset[str]
    courtesy: Phrases
    openings: Phrases
    wishes: Phrases
    wanting: Phrases
    assurances: Phrases
    where: Phrases
    seen: Phrases
    there_is: Phrases
    inquiring: Phrases
    corrections: Phrases
    calling_off: Phrases
    repeats: Phrases
    reasons: Phrases
    where_it_was: Phrases
    in_hand: Phrases
    stopping: Phrases
    waiting: Phrases
    endings: Phrases
    come_here: Phrases
    leads: Phrases

    def _fill_verbs(self, kinds: ObjectCatalogue) -> None:
        verbs: dict[str, Verb] = {}
        phrasal: dict[Words, Verb] = {}
        for one in reversed(kinds.treatments):
            for words in one.verbs:
                _add(words, Verb(one.goal, one.name), verbs, phrasal)
        for name, words in self.data["verbs"].items():
            for word in words.split():
                verbs[word] = _verb(name)
        for name, many in self.data["phrasal"].items():
            for one in many:
                phrasal[tuple(one.split())] = _verb(name)
        self.verbs = verbs
        self.phrasal = phrasal
        whole = {tuple(one.split()): _verb(name) for name, many in self.data["complex"].items() for one in many}
        whole |= {words: verb for words, verb in phrasal.items() if len(words) > 2}
        self.complex = Phrases(whole)
        self.phrasal_verbs = frozenset(words[0] for words in phrasal)

    def base_form(self, word: str) -> str:
        """Return the verb of which a word is a form, "" for none: "washing", "washed", "taken"."""
        if word in self.data["irregular"]:
            return str(self.data["irregular"][word])
        known = self.verbs.keys() | self.phrasal_verbs | self.motion
        if word.endswith("ied"):
            word = word[:-3] + "yed"
        for ending in ("ing", "ed", "d", "s"):
            stem = word.removesuffix(ending)
            if stem == word or len(stem) < 2:
                continue
            for form in (stem, stem + "e", stem[:-1] if stem[-2:-1] == stem[-1:] else ""):
                if form in known:
                    return form
        return word if word in ("put", "set", "cut", "shut") else ""

    def is_verb(self, word: str) -> bool:
        """Return whether a word is the plain form of a verb."""
        return word in self.verbs or word in self.phrasal_verbs


_WAYS = {
    "discard": Verb(GoalKind.PLACE, way="bin"),
    "place_back": Verb(GoalKind.PLACE, way="back"),
    "place_away": Verb(GoalKind.PLACE, way="away"),
}


def _verb(name: str) -> Verb:
    return _WAYS.get(name) or Verb(GoalKind(name))


def _add(words: str, verb: Verb, verbs: dict[str, Verb], phrasal: dict[Words, Verb]) -> None:
    parts = tuple(words.split())
    if len(parts) == 1:
        verbs[words] = verb
    else:
        phrasal[parts] = verb


def _words_of(value: str | Sequence[str]) -> Sequence[str]:
    return value.split() if isinstance(value, str) else value


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    text = files("memory_node.planner.reading").joinpath("english.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


_INDEFINITE = frozenset(_data()["indefinite"].split())


def is_indefinite(phrase: str) -> bool:
    """Return whether a phrase is of some one thing, none that is known to be meant: "a lamp", "any lamp", "another"."""
    return phrase.partition(" ")[0].lower() in _INDEFINITE


_TOKEN = re.compile(r"\d?\d[:.]\d\d(?!\d)|[a-zà-ÿ0-9]+(?:[-'][a-zà-ÿ0-9]+)*|[,.;:!?]")
_OTHER_NAME = re.compile(r"(?<=[a-zà-ÿ])/[a-zà-ÿ]+")  # "the hall/corridor": the first name will do
_DIGITS = re.compile(r"^\d{1,2}$")
_NUMBERS = {str(number): word for word, number in _data()["numbers"].items() if isinstance(number, int)}
_CONTRACTED = _data()["contractions"]
_SPELT = Phrases({tuple(said.split()): meant.split() for said, meant in _data()["spelling"].items()})


def words_of(text: str) -> list[str]:
    """Return the words and marks of a text."""
    plain = text.lower().replace("’", "'").replace("…", ",").replace("...", ",")
    plain = re.sub(r"\s[-–—]+\s|[–—]|--+", " , ", plain)
    plain = _OTHER_NAME.sub("", plain)
    words: list[str] = []
    for token in _TOKEN.findall(plain):
        words += _written_out(token)
    return _respelt(words)


def _written_out(token: str) -> list[str]:
    if token in _CONTRACTED:
        return _CONTRACTED[token].split()
    if token.endswith("'s"):
        return [token[:-2], "'s"]
    if token.endswith("s'"):
        return [token[:-1], "'s"]
    if _DIGITS.match(token):
        return [_NUMBERS.get(token, token)]
    return token.split("-") if "-" in token else [token]


def _respelt(words: list[str]) -> list[str]:
    spelt: list[str] = []
    at = 0
    while at < len(words):
        found = _SPELT.at(words, at)
        spelt += found[0] if found is not None else [words[at]]
        at += found[1] if found is not None else 1
    return spelt
