"""Splits a request into the wanted thing, without the words of asking, and the place that it names.

Finds what a request or a gloss says is done with a thing, too: of "something to cut the bread with" the verb, without
the bread, and that the thing is a tool.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_node.search.request_words import bare_name, purpose_of

_WORD = re.compile(r"[a-z0-9']+")
_DETERMINERS = frozenset(_WORD.findall("the a an my our your his her their its this that these those some any"))
_PERSONS = frozenset({"i", "we", "you", "one"})
_MODALS = frozenset({"can", "could", "should", "may", "might", "would", "will"})
# Verbs that say little without their objects: one puts, makes and gets anything.
_LIGHT = frozenset(
    _WORD.findall(
        "be become do make making have having get getting take taking put putting set give giving go going let use"
        " using keep keeping hold holding bring carry see look looking find need want like add turn turning"
        " play playing prepare show try help start stop know learn change changing build store move place"
    )
)
_PARTICLES = frozenset(_WORD.findall("up down off out away over back in on"))
_ROLE_OF = {
    **dict.fromkeys(("with", "using"), "tool"),
    **dict.fromkeys(("in", "into", "inside", "on", "onto", "at", "under"), "place"),
    **dict.fromkeys(("from", "of"), "source"),
}
_MAKING = frozenset({"make", "making", "made", "cook", "bake", "prepare"})


def role_of(text: str) -> str:
    """Return what the end of a text says of the thing: "tool" for "to cut with", "place" for "to boil pasta in",
    "source" for "to drink from", "material" where something is made with it or from it, "object" for "something to
    eat"; "" where it says nothing.
    """
    words = _WORD.findall(text.lower())
    if len(words) == 3 and words[:2] in (["something", "to"], ["anything", "to"]):
        return "object"
    role = _ROLE_OF.get(words[-1], "") if len(words) > 1 else ""
    return "material" if role in ("tool", "source") and not _MAKING.isdisjoint(words) else role


def contradict(asked: str, told: str) -> bool:
    """Return whether a thing that is told to have one role cannot have the one that is asked for: soup is eaten with a
    spoon and from a bowl. What something is made with may be a tool, a vessel or an ingredient."""
    if not asked or not told or asked in ("material", "object"):
        return False
    if told == "object":
        return True
    if told == "material":
        return asked == "place"
    return (asked == "tool") != (told == "tool")


def deed_of(text: str) -> str:
    """Return a request for something to do a thing with, without that thing: "something to cut with" of "something to
    cut the bread with". "" where the request tells of no deed, of one without an object, or of one that says little by
    itself.
    """
    words = _WORD.findall(text.lower())
    begin = next((n for n in range(1, len(words)) if _is_verb(words, n)), 0)
    if not begin or words[begin] in _LIGHT:
        return ""
    end = len(words)
    while end > begin + 1 and words[end - 1] in _PARTICLES | _ROLE_OF.keys():
        end -= 1
    start = begin + 1
    while start < end and words[start] in _PARTICLES:
        start += 1
    if start >= end:
        return ""
    return " ".join([*words[:start], *words[end:]])


def _is_verb(words: Sequence[str], at: int) -> bool:
    """Return whether a word is the verb of a deed: "to cut", "for cutting", "I can cut"."""
    word, last = words[at], words[at - 1]
    if word in _DETERMINERS or word in _PERSONS:
        return False
    if last == "to":
        return at < 2 or words[at - 2] not in {"like", "love", "want", "need", "have"} or word not in _LIGHT
    if last == "for":
        return word.endswith("ing")
    return at >= 2 and (
        (last in _MODALS and words[at - 2] in _PERSONS) or (last in _PERSONS and words[at - 2] in _MODALS)
    )


_POLITE = (
    r"(?:(?:please|hey|hello|ok|okay|robot|now|just|kindly)\b[\s,]*)*"
    r"(?:(?:can|could|will|would)\s+you\s+(?:please\s+)?)?"
)
_DETERMINER = (
    r"(?:the|an?|some|any|all|both|each|every|my|our|your|his|her|their|this|that|these|those|one|two|three|\d+)"
)
# Verbs that take a thing to a place; after the other verbs a place says where the thing is.
_PLACING = r"(?:move|put|place|set|lay|leave|drop|return|store|throw\s+away|put\s+away|carry|take)"
# Verbs of bringing and placing ask for whatever follows; those that also are adjectives only where a determiner does.
_BRINGING = (
    r"(?:bring|give|get|fetch|hand|pass|find|locate|show|grab|pick\s+up|look\s+for|search\s+for|go\s+to|"
    rf"{_PLACING})(?:\s+(?:me|us|him)\b)?"
)
_DOING = (
    r"(?:wash|clean|rinse|wipe|heat|heat\s+up|warm|warm\s+up|cool|chill|slice|cut|chop|cook|open|close|shut|fill|empty"
    rf"|turn\s+on|turn\s+off|switch\s+on|switch\s+off|examine|inspect)(?=\s+{_DETERMINER}\b)"
)
_WISHING = r"(?:i|we)(?:\s+(?:want|need|would\s+like|would\s+love)|['’]d\s+(?:like|love))(?!\s+to\b)"
_ASKING = re.compile(rf"^{_POLITE}(?:{_BRINGING}|{_DOING}|{_WISHING})\s+(?=\w)", re.IGNORECASE)
_ORDER_TO_PLACE = re.compile(rf"^{_POLITE}{_PLACING}\b", re.IGNORECASE)
# Questions after a thing; only what follows them is a request, and only where it is the name of a thing.
_WONDERING = re.compile(
    rf"^{_POLITE}(?:(?:do\s+you\s+know|tell\s+me|show\s+me)\s+)?"
    r"(?:where(?:['’]s|\s+(?:is|are|did\s+i\s+(?:put|leave)))|is\s+there|are\s+there|do\s+(?:we|you|i)\s+have"
    r"|have\s+(?:we|you)\s+(?:got|seen)|did\s+you\s+see|what\s+about|any\s+sign\s+of"
    r"|where\s+(?:can|could|do|should|would)\s+(?:i|we)\s+(?:find|get|look\s+for)"
    r"|where\s+do\s+(?:you|we|i)\s+(?:keep|have|store))\s+(?=\w)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"^(?P<wanted>.+?)\s+(?:(?:back|away|out|over|up|down)\s+)?(?P<how>on\s+top\s+of|in\s+front\s+of|out\s+of"
    rf"|next\s+to|on|in|into|onto|inside|at|under|to|near|beside|by|behind|from|off)\s+(?P<place>{_DETERMINER}\s+.+)$",
    re.IGNORECASE,
)
# "Something on the desk", "anything in the fridge to eat", "what is in the drawer": the place is not what is wanted.
_WHATEVER = re.compile(
    r"^(?P<thing>something|anything|everything|things?|stuff|what(?:['’]s|\s+is|\s+are|\s+do\s+(?:we|i)\s+have))\s+"
    r"(?:that\s+(?:is|are)\s+|which\s+(?:is|are)\s+)?(?:on\s+top\s+of|out\s+of|on|in|inside|at|under|from)\s+"
    rf"(?P<place>{_DETERMINER}\s+\w+(?:\s+\w+){{0,3}}?)"
    r"(?P<rest>\s+(?:to|that|which|for|i|we|you)\b.*)?[\s?.!]*$",
    re.IGNORECASE,
)
# "Where can I hang up the towel?" and "what do I season the eggs with?" ask for something by what is done with it.
_DOING_WITH = re.compile(
    rf"^{_POLITE}(?P<asked>where|what)\s+(?:can|could|do|should|shall|would)\s+(?:i|we|you|one)\s+"
    r"(?!have\b|need\b|want\b|see\b|know\b|keep\b|find\b|get\b)(?:use\s+to\s+)?(?P<deed>\w.*?)[\s?.!]*$",
    re.IGNORECASE,
)
_AWAY_FROM = frozenset({"from", "off", "out"})
_POINTING = re.compile(r"^(?:it|this|that|them|these|those)\b(?!\s+\w)|^(?:it|them)\b", re.IGNORECASE)


@dataclass(frozen=True)
class RequestPhrases:
    """wanted: what is asked for, "the mug", or "" for anything; place: where an order wants it to be, "the sink", or
    ""; where: the place at which it is said to be, or ""."""

    wanted: str
    place: str = ""
    where: str = ""

    @property
    def purpose(self) -> str:
        """What the wanted thing is for, as a request of its own; "" where the request does not tell both."""
        return purpose_of(self.wanted)

    @property
    def deed(self) -> str:
        """What is done with the wanted thing, as a request of its own, without what it is done to; "" where that tells
        nothing."""
        return deed_of(self.purpose or self.wanted)

    @property
    def role(self) -> str:
        """What the wanted thing is to what is done: "tool", "place", or "" where the request does not tell."""
        return role_of(self.wanted)

    @classmethod
    def of(cls, text: str) -> RequestPhrases:
        """Take a request apart; one that is no order, no wish and no question after a thing stays whole."""
        doing = _DOING_WITH.match(text)
        if doing is not None:
            return cls(f"some{'where' if doing['asked'].lower() == 'where' else 'thing'} to {doing['deed']}")
        asking = _ASKING.match(text)
        if asking is None:
            return cls._of_name(text)
        request = text[asking.end() :].strip()
        if not request or _POINTING.match(request):
            return cls(text)
        anything = None if _ORDER_TO_PLACE.match(text) else _WHATEVER.match(request)
        if anything is not None:
            return cls._of_whatever(anything)
        found = _PLACE.match(request)
        if found is None:
            return cls(request)
        if _ORDER_TO_PLACE.match(text) and found["how"].split()[0].lower() not in _AWAY_FROM:
            return cls(found["wanted"], place=found["place"])
        return cls(found["wanted"], where=found["place"])

    @classmethod
    def _of_name(cls, text: str) -> RequestPhrases:
        """Take apart "where is the mug?" and "the mug in the kitchen"; the place is no thing that is wanted."""
        anything = _WHATEVER.match(text)
        if anything is not None:
            return cls._of_whatever(anything)
        wondering = _WONDERING.match(text)
        request = text[wondering.end() :].strip(" ?!.") if wondering else text
        found = _PLACE.match(request)
        name = found["wanted"] if found else request
        if not bare_name(name):
            return cls(text)
        return cls(name, where=found["place"] if found else "")

    @classmethod
    def _of_whatever(cls, found: re.Match[str]) -> RequestPhrases:
        rest = found["rest"]
        return cls(f"something {rest.strip(' ?!.')}" if rest else "", where=found["place"])
