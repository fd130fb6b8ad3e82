"""Intents that are nearly the same get one name: what they have in common."""

from __future__ import annotations

from difflib import SequenceMatcher

from memory_node.knowledge.text.words import STOP_WORDS

# Intents from this cosine on are one (PlugMem's theta_equal).
THETA_EQUAL = 0.8
_ANYTHING = "something"
_ARTICLES = frozenset(["a", "an", "the", "some"])
# A name that says less than this is none.
_LEAST_WORDS = 2


def common_intent(one: str, other: str) -> str:
    """Return what two intents have in common, "put something in the fridge"; `one` where that would say too little.

    Words in which they differ become "something", with the article before them.
    """
    first, second = one.split(), other.split()
    matcher = SequenceMatcher(None, [w.lower() for w in first], [w.lower() for w in second], autojunk=False)
    kept: list[str] = []
    for kind, begin, end, _, _ in matcher.get_opcodes():
        if kind == "equal":
            kept += first[begin:end]
            continue
        while kept and kept[-1].lower() in _ARTICLES:
            kept.pop()
        if not kept or kept[-1] != _ANYTHING:
            kept.append(_ANYTHING)
    telling = [word for word in kept if word != _ANYTHING and word.lower() not in STOP_WORDS]
    return " ".join(kept) if len(telling) >= _LEAST_WORDS else one
