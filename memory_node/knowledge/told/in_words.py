"""What became of what somebody told, for the one who told it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.told.fact import ToldFact, names_of_several, with_whose


def in_words(told: Sequence[Proposition], known: Iterable[ToldFact] = ()) -> str:
    """Return whether statements were understood, what was kept, and what they took the place of. known: all facts, to
    ask whom a name means that two people have."""
    if not told:
        return "Nobody told me that."
    kept, gone = [one for one in told if one.active], [one.text for one in told if not one.active]
    text = " ".join(one.text for one in kept)
    if gone and (not kept or told[0].text == gone[0]):
        restored = f" Again: {text}" if text else ""
        return f"I take it back: {' '.join(gone)}{restored}"
    instead = f" Instead of: {' '.join(gone)}" if gone else ""
    if any(one.structure for one in kept):
        part = (
            " I have understood only a part of it." if any(fact.is_part for one in kept for fact in one.facts) else ""
        )
        return f"I shall remember: {text}{instead}{part}{_whom(kept, known)}"
    return f"I keep the words, but no rule of mine reads them: {text}{instead}"


def _whom(told: Sequence[Proposition], known: Iterable[ToldFact]) -> str:
    """Ask whom a name without a role means where people of two roles have it; until then the fact is of both."""
    several = names_of_several(known)
    subjects = dict.fromkeys(fact.subject for one in told for fact in one.facts if not fact.subject.attributes)
    asked = [(one.words, several[one.words.lower()]) for one in subjects if one.words.lower() in several]
    return "".join(
        f" Which {name} is it, {' or '.join(with_whose(role, 'your') for role in roles)}?" for name, roles in asked
    )
