"""Puts an answer together from what was retrieved, and says how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory_node.knowledge.answering import LEAST_CONFIDENCE, NOTHING, KnowledgeAnswer, said
from memory_node.knowledge.facts import Prescription, Proposition
from memory_node.knowledge.mode import Mode
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text.names import names_in
from memory_node.knowledge.text.words import stems

# Cosines of unrelated and of equal sentences (all-MiniLM-L6-v2).
_UNLIKE, _LIKE = 0.3, 0.8
# Statements by which the question's words are looked for together.
_READ_TOGETHER = 2


def confidence_of(
    question: str, propositions: Sequence[Proposition], likeness: float, idf: Callable[[str], float]
) -> float:
    """Return the larger of two shares, 0 to 1: of the question's weighted words that the best propositions contain
    together, and of the best one's similarity. likeness: its cosine."""
    words = dict.fromkeys(stems(question))
    weights = {word: idf(word) for word in words}
    held = {word for one in propositions[:_READ_TOGETHER] for word in stems(one.text)}
    total = sum(weights.values())
    covered = sum(weight for word, weight in weights.items() if word in held) / total if total > 0.0 else 0.0
    alike = min(max((likeness - _UNLIKE) / (_LIKE - _UNLIKE), 0.0), 1.0)
    return max(covered, alike) if propositions else 0.0


def bearing_on(
    question: str, found: Sequence[tuple[Proposition, float]], idf: Callable[[str], float]
) -> list[Proposition]:
    """Return the propositions that are relevant to a question, in their order; found: each with its cosine. A
    proposition also stays when it shares a name with a relevant one: the second hop of an answer.
    """
    by_itself = [confidence_of(question, [one], likeness, idf) >= LEAST_CONFIDENCE for one, likeness in found]
    named = {name for (one, _), bears in zip(found, by_itself) if bears for name in names_in(one.text)}
    return [one for (one, _), bears in zip(found, by_itself) if bears or named.intersection(names_in(one.text))]


def answer_of(
    question: str,
    mode: Mode,
    confidence: float,
    propositions: Sequence[Proposition],
    ways: Sequence[Prescription],
    steps: Sequence[StandardStep],
) -> KnowledgeAnswer:
    """Return the answer; it abstains below LEAST_CONFIDENCE unless a prescription for the intent is known."""
    if ways and mode is Mode.PROCEDURAL:
        confidence = max(confidence, LEAST_CONFIDENCE)
    if confidence < LEAST_CONFIDENCE or not (propositions or ways):
        return KnowledgeAnswer(question, NOTHING, mode, confidence)
    text = said(mode, propositions, ways)
    return KnowledgeAnswer(question, text, mode, confidence, tuple(propositions), tuple(ways), tuple(steps))
