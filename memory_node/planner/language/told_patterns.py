"""The sentences of told_facts.yaml as patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

import yaml

_FILE = Path(__file__).with_name("told_facts.yaml")
_WORDS = r"[\w' -]+"
_SLOTS = {
    "who": r"(?P<who>(?-i:[A-Z][\w-]*))",
    "whose": r"(?P<whose>her|his|their)",
    "thing": rf"(?:the |that |this |a |an |our |my )?(?P<thing>{_WORDS}?)",
    "thing_word": r"(?P<thing>[\w-]+)",
    "place": r"(?P<place>(?:in|on|at|under|near|by) .+)",
    "spot": rf"(?P<place>(?:the |his |her |their )?{_WORDS})",
    "what": rf"(?P<what>{_WORDS})",
    "some": rf"(?P<what>{_WORDS}?)",
    "wish": r"(?P<what>.+?)",
    "name": rf"(?P<name>{_WORDS}?)",
    "noun": r"[\w-]+",
    "anything": r".+",
}


@dataclass(frozen=True)
class ToldPatterns:
    """Patterns by what a sentence says; told_facts.yaml says what each is for. Those of statements match whole ones."""

    owned: tuple[re.Pattern[str], ...]
    kept: tuple[re.Pattern[str], ...]
    avoids: tuple[re.Pattern[str], ...]
    sits: tuple[re.Pattern[str], ...]
    likes: tuple[re.Pattern[str], ...]
    holds: tuple[re.Pattern[str], ...]
    called: tuple[re.Pattern[str], ...]
    for_somebody: tuple[re.Pattern[str], ...]
    open_wish: re.Pattern[str]
    of_drinks: re.Pattern[str]
    possessed: re.Pattern[str]
    put_away: re.Pattern[str]


@lru_cache(maxsize=1)
def told_patterns() -> ToldPatterns:
    """Return the patterns of told_facts.yaml."""
    told = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    whole = {
        field.name: tuple(_compiled(f"^{_pattern(one)}$") for one in told[field.name])
        for field in fields(ToldPatterns)
        if isinstance(told[field.name], list) and field.name != "for_somebody"
    }
    return ToldPatterns(
        **whole,
        for_somebody=tuple(_compiled(rf"^{_pattern(one)}[.?!]?$") for one in told["for_somebody"]),
        open_wish=_compiled(f"^{_pattern(told['open_wish'])}$"),
        of_drinks=_compiled(rf"\b{_pattern(told['of_drinks'])}\b"),
        possessed=_compiled(rf"\b{_pattern(told['possessed'])}"),
        put_away=_compiled(rf"\b{_pattern(told['put_away'])}\s*[.!]?$"),
    )


def first_match(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    """Return how the first of the patterns that does matches a text, None when none does."""
    return next((match for pattern in patterns if (match := pattern.match(text))), None)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


def _pattern(sentence: str) -> str:
    """Return a sentence of told_facts.yaml as a pattern."""
    pattern = sentence.replace("(", "(?:").replace("'", "['’]")
    pattern = re.sub(r"\[([^\]]*)\]\* ", r"(?:(?:\1) )*", pattern)
    pattern = re.sub(r"\[([^\]’]*)\] ", r"(?:(?:\1) )?", pattern)
    pattern = re.sub(r" \[([^\]’]*)\]", r"(?: (?:\1))?", pattern)
    return re.sub(r"\{(\w+)\}", lambda slot: _SLOTS[slot[1]], pattern)
