"""What a request or a gloss says is done with a thing: of "something to cut the bread with" the verb, without the
bread, and that the thing is a tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
