"""What a request says a thing is for: "a piece of furniture to lie on", "something to cut the bread with"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_node.search.request_words import bare_name, content_tokens, tokens

Span = tuple[int, int]

_DETERMINER = r"(?:the|an?|my|our|your|his|her|their|this|that|these|those)\b"
# "To sit on", "for making toast"; "to the sink" and "for the remote" are no purposes.
_PURPOSE = re.compile(
    rf"(?<=\w)\s+(?:to\s+(?!{_DETERMINER})\w|for\s+(?!{_DETERMINER})\w+ing\b).*", re.IGNORECASE | re.DOTALL
)
_RELATIVE = re.compile(r"(?<=\w)\s+(?:that|which)\s.*", re.IGNORECASE | re.DOTALL)
_PART_OF_KIND = re.compile(r"^(?:an?|some|any|one)?\s*(?:pieces?|kinds?|types?|sorts?|bits?)\s+of\s+", re.IGNORECASE)
_PERSONS = frozenset({"i", "we", "you"})
_DEFINITE = frozenset(tokens("the my our your his her their this that these those"))
_INDEFINITE = frozenset(tokens("a an some any"))
_ANYTHING = frozenset(tokens("something anything somewhere anywhere thing what whatever"))
_PREPOSITIONS = frozenset(tokens("with from in into on onto off of under over by for"))
_OF_AN_EXAMPLE = frozenset(tokens("like as say instead"))

_SOMEWHERE = re.compile(
    r"^(?:(?:some|any)where|(?:an?|any|some)\s+(?:good\s+)?(?:places?|spots?)|where)\b", re.IGNORECASE
)


def is_for_a_place(text: str) -> bool:
    """Return whether a request asks for a place to do something: "somewhere to wash my hands"."""
    return _SOMEWHERE.match(text) is not None


def without_purpose(text: str) -> str:
    """Return a text up to what it says the thing is for: of "a cup to drink wine from" it is "a cup"."""
    kind = _PURPOSE.sub("", text)
    return kind if any(len(word) > 1 for word in content_tokens(kind)) else text  # not "I would like to have the mug"


def purpose_of(text: str) -> str:
    """Return the purpose in a request for a kind of thing, as a request of its own: "something to sit on" of "furniture
    to sit on". "" where no kind is told beside it, or no purpose."""
    found = _PURPOSE.search(text) or _RELATIVE.search(text)
    if found is None or not bare_name(_PART_OF_KIND.sub("", text[: found.start()])):
        return ""
    return "something" + text[found.start() :]


def handled(words: Sequence[str], names: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Return which names in a description are those of what the wanted thing is used on, and no names of it: the
    certain things ("to open the wine bottle with"), and the others ("to spread on toast", "a tool for cutting bread").

    words: as `tokens` gives them; names: where names stand among them.
    """
    begin = next((n for n in range(1, len(words)) if _begins_doing(words[max(0, n - 2) : n + 1])), len(words))
    doing = words[begin:]
    if not _OF_AN_EXAMPLE.isdisjoint(doing) or doing[:1] in (["make"], ["making"]):
        return [], []  # what toast is made from is called toast
    of_a_kind = _ANYTHING.isdisjoint(words[:begin])
    left_over = bool(doing) and doing[-1] in _PREPOSITIONS
    certain, others = [], []
    for start, end in names:
        before = start
        while before > begin and words[before - 1] in _DEFINITE | _INDEFINITE:
            before -= 1
        if before <= begin:
            continue
        if not _DEFINITE.isdisjoint(words[before:start]):
            certain.append((start, end))
        elif of_a_kind or left_over or words[before - 1] in _PREPOSITIONS:
            others.append((start, end))
    return certain, others


def _begins_doing(words: Sequence[str]) -> bool:
    """Return whether the last of up to three words is the verb of a purpose; words: a word before, one, the verb."""
    *_, last, verb = ["", *words]
    return last in {"to", "can"} | _PERSONS or (last == "for" and verb.endswith("ing"))
