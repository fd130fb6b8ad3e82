"""Splits a request into the wanted thing, without the words of asking, and the place that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_node.search.bare_name import bare_name
from memory_node.search.purpose import purpose_of
from memory_node.search.verb_phrase import deed_of, role_of

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
