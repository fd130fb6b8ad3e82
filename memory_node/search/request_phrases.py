"""Takes a request apart: what is asked for, without the words of asking, and the place that it names beside."""

from __future__ import annotations

import re
from dataclasses import dataclass

_POLITE = (
    r"(?:(?:please|hey|hello|ok|okay|robot|now|just|kindly)\b[\s,]*)*"
    r"(?:(?:can|could|will|would)\s+you\s+(?:please\s+)?)?"
)
_DETERMINER = (
    r"(?:the|an?|some|any|all|both|each|every|my|our|your|his|her|their|this|that|these|those|one|two|three|\d+)"
)
# Verbs of bringing and placing ask for whatever follows; those that also are adjectives only where a determiner does.
_BRINGING = (
    r"(?:bring|give|get|fetch|hand|pass|find|show|grab|take|carry|move|put|place|set|lay|leave|drop|return|store"
    r"|pick\s+up|look\s+for|search\s+for|go\s+to|throw\s+away|put\s+away)(?:\s+(?:me|us|him)\b)?"
)
_DOING = (
    r"(?:wash|clean|rinse|wipe|heat|heat\s+up|warm|warm\s+up|cool|chill|slice|cut|chop|cook|open|close|shut|fill|empty"
    rf"|turn\s+on|turn\s+off|switch\s+on|switch\s+off|examine|inspect)(?=\s+{_DETERMINER}\b)"
)
_WISHING = r"(?:i|we)(?:\s+(?:want|need|would\s+like|would\s+love)|['’]d\s+(?:like|love))(?!\s+to\b)"
_ASKING = re.compile(rf"^{_POLITE}(?:{_BRINGING}|{_DOING}|{_WISHING})\s+(?=\w)", re.IGNORECASE)
_PLACE = re.compile(
    r"^(?P<wanted>.+?)\s+(?:(?:back|away|out|over|up|down)\s+)?(?:on\s+top\s+of|in\s+front\s+of|out\s+of|next\s+to"
    rf"|on|in|into|onto|inside|at|under|to|near|beside|by|behind|from|off)\s+(?P<place>{_DETERMINER}\s+.+)$",
    re.IGNORECASE,
)
_POINTING = re.compile(r"^(?:it|this|that|them|these|those)\b(?!\s+\w)|^(?:it|them)\b", re.IGNORECASE)


@dataclass(frozen=True)
class RequestPhrases:
    """request: without the words of asking, "the mug in the kitchen"; wanted: "the mug"; place: "the kitchen" or ""."""

    request: str
    wanted: str
    place: str = ""

    @classmethod
    def of(cls, text: str) -> RequestPhrases:
        """Take a request apart; one that is no order and no wish stays whole."""
        asking = _ASKING.match(text)
        request = text[asking.end() :].strip() if asking else text
        if asking is None or not request or _POINTING.match(request):
            return cls(text, text)
        found = _PLACE.match(request)
        return cls(request, found["wanted"], found["place"]) if found else cls(request, request)
