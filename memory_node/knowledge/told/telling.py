"""What a sentence takes back, and what became of what somebody told, for the one who told it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.text import bare, on_one_line, stems
from memory_node.knowledge.told.fact import Term, ToldFact, names_of_several, with_whose
from memory_node.knowledge.updating import says_all

_FORGET = re.compile(
    r"^(?:please )?(?:forget that|forget:|it is (?:not|no longer) true that|it isn't true that) (?P<said>.+)$", re.I
)
_FORGET_ALL = re.compile(
    r"^(?:please )?forget (?:everything|all|what) (?:that )?(?:I|we) (?:have |had )?(?:said|told you|mentioned) about "
    r"(?P<what>.+?)[.!]*$",
    re.I,
)
# Somebody mixed things up: what he said just before does not hold.
_CORRECTS = re.compile(
    r"^(?:(?:no|oh|sorry|wait),? )*"
    r"(?:(?:I|we) (?:mixed \w+ up|got \w+ wrong|was (?:wrong|mistaken)|meant(?! to\b))\b|correction\b|"
    r"(?:it is|it's) not \w+ but\b)",
    re.I,
)
_AND = re.compile(r",? and ")
_WITH = re.compile(r" (?:with|of|in|on|at|from|for) ")
_OVER = re.compile(r"^(?:please )?it is no longer true that ", re.I)


def words_taken_back(text: str) -> str:
    """Return what a sentence takes back, "" where it takes nothing back."""
    match = _FORGET.match(on_one_line(text))
    return match["said"] if match is not None else ""


def subject_taken_back(text: str) -> str:
    """Return of what all that was told is taken back: "the vase" of "forget what I said about the vase"; "" for
    nothing."""
    match = _FORGET_ALL.match(on_one_line(text))
    return match["what"] if match is not None else ""


def is_correction(text: str) -> bool:
    """Return whether somebody says that what he told just before was mixed up."""
    return _CORRECTS.match(on_one_line(text)) is not None


def is_over(text: str) -> bool:
    """Return whether a sentence that takes something back says that it was so until now."""
    return _OVER.match(" ".join(text.split())) is not None


def is_said_by(told: Proposition, words: str, facts: Sequence[ToldFact]) -> bool:
    """Return whether a told statement says what is taken back and no more: the same facts, or else the same words."""
    if told.facts and facts:
        return {_meaning(one) for one in told.facts} == {_meaning(one) for one in facts}
    return says_all(told.statement, words) and says_all(words, told.statement)


def is_of(told: Proposition, what: str) -> bool:
    """Return whether a told statement is about a thing or person; one that no form reads, whether it names it."""
    meant = [words for words in map(bare, _AND.split(what)) if stems(words)]
    if not told.facts:
        return any(set(stems(words)) <= set(stems(told.statement)) for words in meant)
    return any(_is_called(one.subject, words) for one in told.facts for words in meant)


def _is_called(subject: Term, words: str) -> bool:
    """Return whether words mean a subject: all of them are in its name, and of a thing its noun. "The red mug" is not
    the blue one, "Anna's mug" not Anna, nor "the kitchen" the kitchen table."""
    noun, meant = (stems(_WITH.split(one)[0])[-1:] for one in (subject.words, words))
    is_noun = not subject.classes or noun == meant
    return is_noun and set(stems(words)) <= set(stems(f"{subject.attributes} {subject.words}"))


def _meaning(fact: ToldFact) -> tuple[object, ...]:
    subject = (fact.subject.attributes, fact.subject.classes[:1] or fact.subject.words.lower())
    what = fact.object.classes[:1] or fact.object.words.lower()
    return fact.relation, subject, what, fact.verb, fact.holds, fact.part_of_day


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
