"""The sentences of told_facts.yaml as patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).with_name("told_facts.yaml")
# Words of one phrase: a verb or "not" would make it a sentence that says more than its pattern.
_NO_NOUN = (
    "is|are|was|were|be|been|being|to|not|no|never|has|have|had|does|do|did|must|may|cannot|should|will|would|when|if|"
    "because|until|after|before|during|unless|without|supposed|it|so|but|except|nothing|none|nobody"
)
_WORDS = rf"(?:(?!(?:{_NO_NOUN})\b)[\w'’-]+(?: (?!(?:{_NO_NOUN})\b)[\w'’-]+)*?)"
_DETERMINERS = r"the|that|this|a|an|some|our|my|his|her|their|every|each|all(?: the)?|any"
_SLOTS = {
    "who": r"(?P<who>(?-i:[A-Z][\w-]*))",
    "thing": rf"(?:(?:{_DETERMINERS}) )?(?P<thing>{_WORDS})",
    "a_thing": rf"(?P<thing>(?:{_DETERMINERS}) {_WORDS})",
    "place": rf"(?P<place>(?:in|into|on|onto|to|at|under|near|by|beside|behind|inside|next to) {_WORDS})"
    r"(?: (?:when|if|after|once|as soon as|because|until|unless) .+|,? (?:and |but )?(?:never|not) .+)?",
    "spot": rf"(?P<place>(?:(?:the|his|her|their|my|our|[\w-]+['’]s) {_WORDS}|bed))",
    "what": rf"(?P<what>{_WORDS})",
    "some": rf"(?P<what>{_WORDS})",
    "wish": r"(?P<what>.+?)",
    "name": rf"(?P<name>{_WORDS})",
    "somebody": r"(?-i:[A-Z][\w-]*)",
    "proper_name": r"(?P<name>(?-i:[A-Z][\w-]*(?: [A-Z][\w-]*)*))",
    "favourite_name": r"(?P<name>(?:favou?rite) [\w -]+?)",
    "thing_word_place": rf"(?:(?:{_DETERMINERS}) )(?P<where>[\w' -]+?)",
    "noun": r"[\w-]+",
    "anything": r".+",
    "clause": r"(?P<clause>[^,;.!?]+)",
}


@dataclass(frozen=True)
class ToldPatterns:
    """Patterns by what a sentence says; told_facts.yaml says what each is for. Those of statements match whole ones."""

    manner: tuple[re.Pattern[str], ...]
    forbidden: tuple[re.Pattern[str], ...]
    reserved: tuple[re.Pattern[str], ...]
    broken: tuple[re.Pattern[str], ...]
    working: tuple[re.Pattern[str], ...]
    owned: tuple[re.Pattern[str], ...]
    kept: tuple[re.Pattern[str], ...]
    kept_in: tuple[re.Pattern[str], ...]
    kept_of: tuple[re.Pattern[str], ...]
    kept_by: tuple[re.Pattern[str], ...]
    avoids: tuple[re.Pattern[str], ...]
    diet: tuple[re.Pattern[str], ...]
    sits: tuple[re.Pattern[str], ...]
    kept_loosely: tuple[re.Pattern[str], ...]
    likes: tuple[re.Pattern[str], ...]
    holds: tuple[re.Pattern[str], ...]
    called: tuple[re.Pattern[str], ...]
    stands_for: tuple[re.Pattern[str], ...]
    stands_for_of_me: tuple[re.Pattern[str], ...]
    for_somebody: tuple[re.Pattern[str], ...]
    open_wish: re.Pattern[str]
    of_drinks: re.Pattern[str]
    opening: re.Pattern[str]
    parts: re.Pattern[str]
    fillers: re.Pattern[str]
    second_verb: re.Pattern[str]
    caution: re.Pattern[str]
    closing: re.Pattern[str]
    manner_denied: re.Pattern[str]
    done_by_anybody: re.Pattern[str]
    timed: re.Pattern[str]
    time_of_habit: re.Pattern[str]
    of_food: re.Pattern[str]
    put_away: re.Pattern[str]
    where: re.Pattern[str]
    handled: re.Pattern[str]
    moving: re.Pattern[str]
    throwing_away: re.Pattern[str]
    used: re.Pattern[str]


@dataclass(frozen=True)
class ToldWords:
    """manners: the adjective of each way to tell how a thing is to be. diets: what each leaves out. titles: words
    before a person's name. people: the one name of what a person without a name is called. times: names of no person.
    by_parts: the words of each relation that told_parts.py reads.
    """

    manners: Mapping[str, str]
    diets: Mapping[str, Sequence[str]]
    titles: Sequence[str]
    people: Mapping[str, str]
    times: frozenset[str]
    by_parts: Mapping[str, frozenset[str]]


@lru_cache(maxsize=1)
def told_words() -> ToldWords:
    """Return the words of told_facts.yaml."""
    told = _told()
    manners = {said: adjective for adjective, ways in told["manners"].items() for said in ways}
    return ToldWords(
        {**manners, **told["manner_verbs"]},
        told["diets"],
        told["titles"],
        told["people"],
        frozenset(told["times"]),
        {relation: frozenset(words.split()) for relation, words in told["by_parts"].items()},
    )


@lru_cache(maxsize=1)
def told_patterns() -> ToldPatterns:
    """Return the patterns of told_facts.yaml."""
    told = _told()
    whole = {
        field.name: tuple(_compiled(f"^{_pattern(one)}$") for one in told[field.name])
        for field in fields(ToldPatterns)
        if isinstance(told.get(field.name), list) and field.name != "for_somebody"
    }
    before = rf"^(?:{_pattern(told['before_verb'])} )*"
    object_ = rf"(?:me |us )?(?P<object>.+?)(?= {_pattern(told['after_object'])}\b|\s*[,.;!?]|$)"
    return ToldPatterns(
        **whole,
        for_somebody=tuple(_compiled(rf"^{_pattern(one)}[.?!]?$") for one in told["for_somebody"]),
        open_wish=_compiled(f"^{_pattern(told['open_wish'])}$"),
        of_drinks=_compiled(rf"\b{_pattern(told['of_drinks'])}\b"),
        opening=_compiled(f"^{_pattern(told['opening'])}"),
        parts=_compiled(_pattern(told["parts"])),
        fillers=_compiled(_pattern(told["fillers"])),
        second_verb=_compiled(_pattern(told["second_verb"])),
        caution=_compiled(_pattern(told["caution"])),
        closing=_compiled(_pattern(told["closing"])),
        manner_denied=_compiled(f"^{_pattern(told['manner_denied'])}$"),
        done_by_anybody=_compiled(_pattern(told["done_by_anybody"])),
        timed=_compiled(_pattern(told["timed"])),
        time_of_habit=_compiled(_pattern(told["time_of_habit"])),
        of_food=_compiled(_pattern(told["of_food"])),
        put_away=_compiled(rf"\b{_pattern(told['put_away'])}\s*[.!]?$"),
        where=_compiled(rf"\b{_pattern(told['where'])}\s*[.!?]?$"),
        handled=_compiled(rf"{before}\w+ {object_}"),
        throwing_away=_compiled(rf"{before}{_pattern(told['throwing_away'])}\b"),
        moving=_compiled(rf"{before}{_pattern(told['moving'])}\b"),
        used=_compiled(rf"\b{_pattern(told['using'])} (?:the |our |my )?(?:\w+ )?$"),
    )


def first_match(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    """Return how the first of the patterns that does matches a text, None when none does."""
    return next((match for pattern in patterns if (match := pattern.match(text))), None)


@lru_cache(maxsize=1)
def _told() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return told


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


def _pattern(sentence: str) -> str:
    """Return a sentence of told_facts.yaml as a pattern."""
    told = _told()
    slots = _SLOTS | {
        "manner": _one_of("manner", (said for ways in told["manners"].values() for said in ways)),
        "manner_verb": _one_of("manner", told["manner_verbs"]),
        "diet": _one_of("diet", told["diets"]),
    }
    # Alternatives of the sentences become groups before the slots bring groups of their own.
    pattern = sentence.replace("(", "(?:").replace("(?:?=", "(?=").replace("'", "['’]")
    pattern = re.sub(r"\[([^\]]*)\]\* ", r"(?:(?:\1) )*", pattern)
    pattern = re.sub(r"\[([^\]’]*)\] ", r"(?:(?:\1) )?", pattern)
    pattern = re.sub(r" \[([^\]’]*)\]", r"(?: (?:\1))?", pattern)
    return re.sub(r"\{(\w+)\}", lambda slot: slots[slot[1]], pattern)


def _one_of(name: str, words: Any) -> str:
    return f"(?P<{name}>{'|'.join(sorted(words, key=len, reverse=True))})"
