"""English as the grammar of commands knows it, read once from english.yaml."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from memory_node.catalogue.treatment import Treatment
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.states import ObjectState

Words = frozenset[str]
Phrases = tuple[tuple[str, ...], ...]

# Senses of prepositions: what they say of a place.
INTO, NEAR, FROM, WITH, UNDER, FOR, OF, LIT = "into", "near", "from", "with", "under", "for", "of", "lit"
PUNCTUATION = frozenset(".,;:!?-")
ENDS = frozenset(".;!?")
_FILE = Path(__file__).with_name("english.yaml")


@dataclass(frozen=True)
class VerbSense:
    """What a verb asks for.

    kind: of goal; None for a verb that means something with its particle only ("turn the lamp ... on"). word: the verb
    in its base form. to_user: the thing goes to whom the robot works for unless a place is named. away: out of sight,
    or into the bin. back: to where the thing was. here: the robot comes to the person. treatment: the catalogue's name
    of what is done ("toast").
    """

    kind: GoalKind | None
    word: str
    to_user: bool = False
    away: bool = False
    back: bool = False
    here: bool = False
    treatment: str = ""


@dataclass(frozen=True, eq=False)
class English:
    """Sets of words, and phrases with the longest first; english.yaml says what each is for."""

    fillers: Words
    colours: Words
    sizes: Words
    materials: Words
    ordinals: Words
    every: Words
    definite: Words
    indefinite: Words
    pronouns: Words
    plural_pronouns: Words
    people: Words
    subjects: Words
    relative: Words
    posed: Words
    auxiliaries: Words
    being: Words
    negative: Words
    joining: Words
    particles: Words
    generic: Words
    unnamed: Words
    pieces: Words
    liquids: Words
    measures: Words
    parts: Words
    attached: Words
    compartments: Words
    conditions: Words
    its_place: Words
    before_deed: Words
    after_deed: Words
    handled: Words
    lying: Words
    to_user: Words
    discarding: Words
    stopping: Words
    letting: Words
    shining: Words
    draping: Words
    rinsing: Words
    collective: Words
    lights: Words
    personal: Words
    lighting: Words
    disposing: Words
    often: Words
    underfoot: Words
    condition_marks: Words
    time_units: Words
    day_parts: Words
    week_days: Words
    later: Words
    habits: Words
    occasions: Words
    putting_off: Words
    manners: Words
    happened: Words
    going_wrong: Words
    past_openings: Phrases
    wished_if: Phrases
    obliging: Words
    belonging: Words
    kept: Words
    serving: Words
    asking: Words
    returning: Words
    exchanging: Words
    doubtful: Words
    causing: Words
    becoming: Words
    welcome: Words
    clauses: Words
    new_parts: Words
    where_it_was: Words
    enough: Words
    saying: Words
    yes: Words
    no: Words
    fragment_marks: Words
    introducing: Words
    assignments: Words
    kindness: Phrases
    persons: Phrases
    in_hand: Phrases
    endings: Phrases
    tags: Phrases
    openings: Phrases
    wishes: Phrases
    assurances: Phrases
    asides: Phrases
    excluding: Phrases
    corrections: Phrases
    calling_off: Phrases
    where: Phrases
    seen: Phrases
    inquiring: Phrases
    there_is: Phrases
    whether: Phrases
    repeats: Phrases
    contractions: Mapping[str, str]
    spelling: Mapping[str, str]
    rooms: Mapping[str, str]
    directed: Sequence[str]
    removed: Mapping[str, str]
    states: Mapping[str, ObjectState]
    deeds: Mapping[str, ObjectState]
    asked_states: Mapping[str, str]
    numbers: Mapping[str, int]
    made: Mapping[str, str]
    forms: Mapping[str, str]
    prepositions: Mapping[tuple[str, ...], str]
    verbs: Mapping[str, GoalKind]
    phrasal: Mapping[tuple[str, ...], VerbSense]
    preposition_lengths: Mapping[str, int]
    phrasal_lengths: Mapping[str, int]

    @property
    def plain_nouns(self) -> Words:
        """Nouns that mean no thing of their own: parts, pieces, liquids, places to be in, ways to do a thing."""
        nouns = self.generic | self.unnamed | self.parts | self.attached | self.pieces | self.measures | self.liquids
        return nouns | self.its_place | self.compartments | self.pronouns | self.manners

    @property
    def determiners(self) -> Words:
        """Words that begin a noun phrase and say which thing."""
        return self.definite | self.indefinite

    def with_treatments(self, treatments: Sequence[Treatment]) -> English:
        """Return it with the verbs of a label space's treatments, and what is done with them: "toast", "toasted"."""
        senses = {
            tuple(verb.split()): VerbSense(one.goal, verb.split()[0], treatment=one.name)
            for one in reversed(treatments)
            for verb in one.verbs
            if verb not in self.verbs
        }
        phrasal = {**senses, **self.phrasal}
        done = {form: one.states[0] for one in treatments for verb in one.verbs for form in _participles(verb)}
        states = {**done, **self.states}
        asked = {word: state.value for word, state in done.items() if word == state.value} | dict(self.asked_states)
        return dataclasses.replace(
            self, phrasal=phrasal, phrasal_lengths=_lengths(phrasal), states=states, asked_states=asked
        )

    def preposition_at(self, words: Sequence[str], at: int) -> tuple[str, int] | None:
        """Return the sense of the longest preposition that begins at a word, and how many words it has."""
        return _longest(self.prepositions, self.preposition_lengths, words, at)

    def is_verb(self, word: str) -> bool:
        """Return whether a word in its base form can open a command."""
        return word in self.verbs or word in self.phrasal_lengths

    def base_form(self, word: str, participle: bool = False) -> str:
        """Return "put" for "putting" (and with `participle`, "wash" for "washed"); "" for what is no verb."""
        if self.is_verb(word):
            return word
        if participle and word in self.forms:
            return self.forms[word]
        ending = "ing" if word.endswith("ing") else "ed" if participle and word.endswith("ed") else ""
        if not ending:
            return ""
        stem = word.removesuffix(ending)
        forms = (stem + "e", stem, stem[:-1] if stem[-1:] == stem[-2:-1] else stem, stem[:-1] + "y")
        return next((form for form in forms if self.is_verb(form)), "")

    def verb_at(self, words: Sequence[str], at: int, participle: bool = False) -> tuple[VerbSense, int] | None:
        """Return the sense of the verb at a word and its length, with the particles that follow at once."""
        base = self.base_form(words[at], participle) if at < len(words) else ""
        if not base:
            return None
        found = _longest(self.phrasal, self.phrasal_lengths, [base, *words[at + 1 : at + 6]], 0)
        if found is not None:
            return found
        to_user, away, back = (base in words for words in (self.to_user, self.discarding, self.returning))
        return VerbSense(self.verbs.get(base), base, to_user, away, back), 1

    def with_particle(self, verb: str, particle: str) -> VerbSense | None:
        """Return the sense of a verb whose particle stands behind its object: "turn the lamp ... on"."""
        return self.phrasal.get((verb, particle))


def _participles(verb: str) -> Sequence[str]:
    """Return the regular participles that a verb may have: "fried", "chopped"; () for a verb of several words."""
    if " " in verb:
        return ()
    if verb.endswith("e"):
        return (f"{verb}d",)
    return (f"{verb[:-1]}ied",) if verb.endswith("y") else (f"{verb}ed", f"{verb}{verb[-1]}ed")


def phrase_at(phrases: Phrases, words: Sequence[str], at: int) -> int:
    """Return how many words the longest of the phrases has that begins at a word; 0 where none does."""
    return next((len(phrase) for phrase in phrases if tuple(words[at : at + len(phrase)]) == phrase), 0)


@lru_cache(maxsize=1)
def load_english() -> English:
    """Return the English of english.yaml."""
    data: dict[str, Any] = yaml.load(_FILE.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(English):
        value: Any = data.get(field.name)
        if field.type == "Words":
            fields[field.name] = frozenset(value.split())
        elif field.type == "Phrases":
            fields[field.name] = tuple(sorted((tuple(phrase.split()) for phrase in value), key=len, reverse=True))
        else:
            fields[field.name] = value
    for name in ("states", "deeds"):
        fields[name] = {word: ObjectState(state) for word, state in _by_word(data[name]).items()}
    fields |= {name: _by_word(data[name]) for name in ("asked_states", "removed")}
    fields["numbers"] = data["numbers"] | {str(number): number for number in range(1, 21)}
    fields["prepositions"] = {
        tuple(phrase.split()): sense for sense, phrases in data["prepositions"].items() for phrase in phrases
    }
    fields["verbs"] = {word: GoalKind(kind) for word, kind in _by_word(data["verbs"]).items()}
    fields["phrasal"] = dict(_phrasal(data))
    fields["preposition_lengths"] = _lengths(fields["prepositions"])
    fields["phrasal_lengths"] = _lengths(fields["phrasal"])
    return English(**fields)


def _by_word(table: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each word of a table of words."""
    return {word: key for key, words in table.items() for word in words.split()}


def _phrasal(data: Mapping[str, Any]) -> Iterable[tuple[tuple[str, ...], VerbSense]]:
    for kind, phrases in data["phrasal"].items():
        for phrase in phrases:
            yield tuple(phrase.split()), VerbSense(GoalKind(kind), phrase.split()[0])
    flagged = {
        "put_away": VerbSense(GoalKind.PLACE, "", away=True),
        "put_back": VerbSense(GoalKind.PLACE, "", back=True),
        "throw_away": VerbSense(GoalKind.THROW, "", away=True),
        "come_here": VerbSense(GoalKind.GO, "", here=True),
    }
    for key, sense in flagged.items():
        for phrase in data[key]:
            yield tuple(phrase.split()), dataclasses.replace(sense, word=phrase.split()[0])


def _lengths(phrases: Iterable[tuple[str, ...]]) -> Mapping[str, int]:
    longest: dict[str, int] = {}
    for phrase in phrases:
        longest[phrase[0]] = max(len(phrase), longest.get(phrase[0], 0))
    return longest


def _longest(table: Mapping[tuple[str, ...], Any], lengths: Mapping[str, int], words: Sequence[str], at: int) -> Any:
    """Return the value of the longest key that begins at a word, and how many words it has; None where none does."""
    longest = lengths.get(words[at], 0) if at < len(words) else 0
    for length in range(min(longest, len(words) - at), 0, -1):
        value = table.get(tuple(words[at : at + length]))
        if value is not None:
            return value, length
    return None
