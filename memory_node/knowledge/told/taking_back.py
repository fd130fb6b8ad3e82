"""What somebody takes back: "forget that the spare keys are on the shelf"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.saying_the_same import says_all
from memory_node.knowledge.told.fact import ToldFact

_FORGET = re.compile(
    r"^(?:please )?(?:forget that|forget:|it is (?:not|no longer) true that|it isn't true that) (?P<said>.+)$", re.I
)
_OVER = re.compile(r"^(?:please )?it is no longer true that ", re.I)


def words_taken_back(text: str) -> str:
    """Return what a sentence takes back, "" where it takes nothing back."""
    match = _FORGET.match(" ".join(text.replace("’", "'").split()))
    return match["said"] if match is not None else ""


def is_over(text: str) -> bool:
    """Return whether a sentence that takes something back says that it was so until now."""
    return _OVER.match(" ".join(text.split())) is not None


def is_said_by(told: Proposition, words: str, facts: Sequence[ToldFact]) -> bool:
    """Return whether a told statement says what is taken back and no more: the same facts, or else the same words."""
    if told.facts and facts:
        return {_meaning(one) for one in told.facts} == {_meaning(one) for one in facts}
    return says_all(told.statement, words) and says_all(words, told.statement)


def _meaning(fact: ToldFact) -> tuple[object, ...]:
    subject = (fact.subject.attributes, fact.subject.classes[:1] or fact.subject.words.lower())
    what = fact.object.classes[:1] or fact.object.words.lower()
    return fact.relation, subject, what, fact.verb, fact.holds, fact.part_of_day
