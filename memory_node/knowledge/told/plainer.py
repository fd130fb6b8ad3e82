"""Brings what people say into plain clauses: one wording for what can be said in several ways."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from memory_node.knowledge.text import on_one_line

# Words that begin a sentence with a capital and name nobody.
_NO_NAME = (
    r"(?!(?:There|It|This|That|These|Those|He|She|They|What|Which|Who\w*|Where|When|Why|How|Although|If|Some\w+|"
    r"Any\w+|Every\w+|Hi|Hello|Honestly)\b)"
)
# Who is somebody's; "Ben's bike" is a thing.
KIN = (
    r"(?:(?:grand|step)?(?:mother|father|ma|pa|son|daughter|child)|mum|mom|dad|aunt|uncle|sister|brother|cousin|niece|nephew|"
    r"wife|husband|partner|girlfriend|boyfriend|friend|neighbou?r|colleague|boss|guest|carer|nurse|doctor|flatmate)"
)
# Who is spoken of without a name: an animal, a person, or a group of whom any person may be.
ANIMAL = r"(?:dog|cat|pup(?:py)?|kitten|pet)s?|puppies"
BEING = rf"{ANIMAL}|(?:baby|toddler|kid|boy|girl|twin|guest|visitor|tenant)s?|babies|children"
NAME = (
    rf"(?:(?:my [a-z-]+|(?:the|our) (?:{BEING})\b|[A-Z][\w-]*'s {KIN}\b)(?: [A-Z][\w-]*)?|"
    rf"{_NO_NAME}[A-Z][\w-]*\.?(?: (?!I\b)[A-Z][\w-]*)*|I|we)"
)
NAMES = rf"{NAME}(?:, {NAME})*(?:,? (?:and|or) {NAME})?"

_GROUPS = {
    "NAMES": f"(?P<who>{NAMES})",
    "NAME": f"(?P<who>{NAME})",
    "OTHERS": f"(?P<other>{NAMES})",
    "ANYBODY": r"(?:any(?:body|one)|people|you|others)",
    "HAND": r"(?:give|serve|hand|feed|offer|bring|pass)",
    "MUST": r"(?:(?:must|should|has to|have to|is to|are to|needs to|need to) )",
    "ILL": r"(?:(?:an? )?(?:\w+ )?(?:rash|hives|spots|cramps|heartburn|(?:migraine|headache|stomach ?ache)s?))",
    "GAVE": r"(?:(?:has |have |had )?(?:given|gave|gives?|passed on|handed down|donated|bought|got))",
    "SOMEBODY": NAME,
    "BEING": BEING,
    "KIN": KIN,
}
# The phrasings of English; names in capitals stand for the groups above.
_ENGLISH: dict[str, Any] = yaml.safe_load((files(__package__) / "english.yaml").read_text(encoding="utf-8"))


@cache
def _forms(key: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the phrasings of a key; they are compiled when the first sentence is read, for that takes a while."""
    return tuple(
        (re.compile(re.sub("|".join(_GROUPS), lambda found: _GROUPS[found[0]], pattern)), said)
        for pattern, said in _ENGLISH[key]
    )


def _any_of(key: str) -> str:
    return f"(?:{'|'.join(_ENGLISH[key])})"


_LEAD = re.compile(rf"^(?:{_any_of('calls')}[,:] |{_any_of('leads')},? )", re.I)
_FILLER = re.compile(rf"\b{_any_of('fillers')} ?\b")
_OPENS = re.compile(_any_of("no_names"), re.I)


def plain(sentence: str) -> str:
    """Return a sentence without its opening, fillers and contractions."""
    text = on_one_line(sentence).strip(" .!?")
    for pattern, whole in _forms("whole"):
        text = pattern.sub(whole, text)
    text = " ".join(_FILLER.sub("", without_opening(text)).split()).strip(" ,")
    # A capital at the beginning of a sentence is no name's.
    first = text.partition(" ")[0]
    return first.lower() + text[len(first) :] if _OPENS.fullmatch(first) else text


def without_opening(text: str) -> str:
    """Return a text without "Actually, " and the like, which tell nothing themselves."""
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    return text


def plainer(clause: str) -> str:
    """Return a clause in the plainest words that say the same."""
    for pattern, plain in _forms("plainer"):
        clause = pattern.sub(plain, clause)
    return clause
