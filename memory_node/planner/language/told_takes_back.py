"""Leaves out what somebody who tells takes back at once: "from the cupboard... sorry, from the dresser"."""

from __future__ import annotations

import re

_MARK = (
    r"(?:\s*(?:,|\.\.\.|…|-)\s*|\s+)"
    r"(?:or rather|no wait|oh no|no|sorry|i mean|i meant|well|that is|actually|rather)\b,?\s+"
)
_PREPOSITION = r"(?:in|into|on|onto|to|at|from|under|near|by|beside|behind|inside)"
_PHRASE = r"(?:the|that|this|a|an|our|my|his|her|their) [\w-]+(?: [\w-]+)?"
# "From the cupboard, no, from the dresser": a place for a place.
_PLACE = re.compile(rf"\b{_PREPOSITION} {_PHRASE}{_MARK}(?={_PREPOSITION} )", re.I)
# "The wok, well, the big pan": a thing for a thing.
_THING = re.compile(rf"\b{_PHRASE}{_MARK}(?={_PHRASE}\b)", re.I)
_THING_THERE = re.compile(rf"\b(?P<how>{_PREPOSITION}) {_PHRASE}{_MARK}(?={_PHRASE}\b)", re.I)
# "Mashed... no, just warm", at the end.
_LAST = re.compile(
    r"\b[\w-]+(?:\s*(?:\.\.\.|…)\s*no|,\s+(?:or rather|sorry|i mean|no wait)),? (?:just |only )?"
    r"(?P<word>[\w-]+)(?=[.!]?$)",
    re.I,
)
# "Hang, or rather lie": a word for a word.
_WORD = re.compile(r"\b[\w-]+, (?:or rather|no|sorry|i mean) (?P<word>[\w-]+),", re.I)


def without_what_is_taken_back(text: str) -> str:
    """Return a statement with what is meant alone, where like stands for like; else as it was."""
    text = _PLACE.sub("", text)
    text = _THING_THERE.sub(lambda match: f"{match['how']} ", text)
    text = _THING.sub("", text)
    text = _LAST.sub(lambda match: match["word"], text)
    return _WORD.sub(lambda match: match["word"], text)
