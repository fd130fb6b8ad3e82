"""Puts an answer together from what was retrieved, and says how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

from memory_node.knowledge.answering import LEAST_CONFIDENCE, NOTHING, KnowledgeAnswer, said
from memory_node.knowledge.facts import Prescription, Proposition
from memory_node.knowledge.mode import Mode
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text.names import name_key, names_in
from memory_node.knowledge.text.words import STOP_WORDS, plain_words, stems

# Cosines of unrelated and of equal sentences (all-MiniLM-L6-v2).
_UNLIKE, _LIKE = 0.3, 0.8
# Cosine of a question and an unrelated sentence that share a name.
_UNLIKE_NAMED = 0.45
# Statements by which the question's words are looked for together.
_READ_TOGETHER = 2
# Letters with which a short form of a name begins like the long one: Mel, Melanie.
_SHORT_NAME = 3


def confidence_of(
    question: str, propositions: Sequence[Proposition], likeness: float, idf: Callable[[str], float]
) -> float:
    """Return the larger of two shares, 0 to 1: of the question's weighted words that the best proposition, or the best
    two if they are linked, contain, and of the best one's similarity. likeness: its cosine.

    Who is asked about is not what is asked: words alone count for nothing where they are only the question's names.
    """
    words = dict.fromkeys(stems(question))
    weights = {word: idf(word) for word in words}
    total = sum(weights.values())
    best = list(propositions[:_READ_TOGETHER])
    together = best if len(best) == _READ_TOGETHER and are_linked(*best) else best[:1]
    held = words.keys() & {word for one in together for word in stems(one.text)}
    names = names_asked(question)
    named = {word for name in names for word in stems(name)}
    tells = held - named or not words.keys() - named
    covered = sum(weights[word] for word in held) / total if total > 0.0 and tells else 0.0
    unlike = _UNLIKE_NAMED if names else _UNLIKE
    alike = min(max((likeness - unlike) / (_LIKE - unlike), 0.0), 1.0)
    return max(covered, alike) if propositions else 0.0


def bearing_on(
    question: str, found: Sequence[tuple[Proposition, float]], idf: Callable[[str], float]
) -> list[Proposition]:
    """Return the propositions that are relevant to a question, in their order; found: each with its cosine.

    A proposition also stays when it is linked with a relevant one: the second hop of an answer. Where the question
    names somebody or something, a proposition has to name it too, or to be linked with one that does: that Anna is
    allergic to nuts says nothing of Carla.
    """
    names = names_asked(question)
    held = [one for one, _ in found if not names or _names_any(one, names)]
    by_itself = [
        confidence_of(question, [one], likeness, idf) >= LEAST_CONFIDENCE
        and (one in held or any(are_linked(one, other) for other in held))
        for one, likeness in found
    ]
    relevant = [one for (one, _), bears in zip(found, by_itself) if bears]
    return [
        one for (one, _), bears in zip(found, by_itself) if bears or any(are_linked(one, other) for other in relevant)
    ]


def are_linked(one: Proposition, other: Proposition) -> bool:
    """Return whether two propositions share a name. That both are of one document, or by one speaker, is no link."""
    first, second = set(names_in(one.statement)), set(names_in(other.statement))
    return not (first | {name_key(one.subject)}).isdisjoint(second) or name_key(other.subject) in first


def names_asked(question: str) -> list[str]:
    """Return the keys of the names in a question; a capital at its begin alone makes none."""
    words = plain_words(question)
    return [name for name in names_in(question) if name != (words[0] if words else "")]


def _names_any(proposition: Proposition, names: Sequence[str]) -> bool:
    words = set(plain_words(proposition.text))
    return any(_is_in(part, words) for name in names for part in name.split() if part not in STOP_WORDS)


def _is_in(part: str, words: set[str]) -> bool:
    if part in words or len(part) < _SHORT_NAME:
        return part in words
    return any(len(word) >= _SHORT_NAME and (word.startswith(part) or part.startswith(word)) for word in words)


def answer_of(
    question: str,
    mode: Mode,
    confidence: float,
    propositions: Sequence[Proposition],
    ways: Sequence[Prescription],
    steps: Sequence[StandardStep],
    zone: tzinfo | None = None,
) -> KnowledgeAnswer:
    """Return the answer; it abstains below LEAST_CONFIDENCE unless a prescription for the intent is known."""
    if ways and mode is Mode.PROCEDURAL:
        confidence = max(confidence, LEAST_CONFIDENCE)
    if confidence < LEAST_CONFIDENCE or not (propositions or ways):
        return KnowledgeAnswer(question, NOTHING, mode, confidence)
    text = said(mode, propositions, ways, zone)
    return KnowledgeAnswer(question, text, mode, confidence, tuple(propositions), tuple(ways), tuple(steps))
