"""Answers from knowledge: which kind of memory a question wants, which statements answer it, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory_node.domain.text_enum import TextEnum
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text import STOP_WORDS, name_key, names_in, plain_words, spoken_day, stems, told_back
from memory_node.knowledge.told.fact import ToldFact


class Mode(TextEnum):
    """Episodic: what happened, and when. Semantic: what is so. Procedural: how a thing is done."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


_PROCEDURAL = re.compile(
    r"\bhow (?:do|can|should|would|to)\b(?! (?:you|we|they|i) (?:know|feel|like))|\bwhat (?:is|are) the (?:steps|way)\b"
    r"|\b(?:steps|procedure|instructions) (?:to|for)\b|\bway to\b",
    re.I,
)
_EPISODIC = re.compile(
    r"\bwhen\b|\bhow long ago\b|\blast time\b|\bwhat happened\b|\b(?:yesterday|today|tonight|this morning|last "
    r"(?:night|week|month|year|summer|winter))\b|\bdid\b|\bhow (?:many|often) times?\b|\bwhich day\b"
    r"|\bwhat (?:day|date)\b",
    re.I,
)
# What a robot is told to do, while it acts: the skill to use is what it needs.
_COMMAND = re.compile(
    r"^(?:please\s+|can you\s+|could you\s+)?(?:bring|put|place|take|get|fetch|make|clean|wash|heat|cool|slice|cut|"
    r"open|"
    r"close|turn|switch|find|look|go|move|pick|give|set|fill|pour|wipe|warm|chill|cook|tidy|carry|grab|leave)\b",
    re.I,
)


def mode_of(question: str) -> Mode:
    """Return the one kind of memory that serves a question, or a command."""
    if _PROCEDURAL.search(question) or _COMMAND.search(question.strip()):
        return Mode.PROCEDURAL
    return Mode.EPISODIC if _EPISODIC.search(question) else Mode.SEMANTIC


# Text of an answer that knows nothing (PlugMem's).
NOTHING = "null"
# Where a step found a thing: "Apple in GarbageCan".
_WHERE = re.compile(r"^(\w+) (in|on) (\w+)$")
# Hits that an episodic answer reads, and hits in one session from which it reads the whole session.
EPISODIC_HITS = 30
WHOLE_SESSION_FROM = 3
# Below this confidence an answer abstains.
LEAST_CONFIDENCE = 0.45


@dataclass(frozen=True)
class KnowledgeAnswer:
    """What is known of a question.

    text: the answer in words, "null" when it abstains. confidence: 0 to 1, the share of the question's words, by their
    weight, that the propositions hold, or how like it they are, whichever is more. object_ids: the things that it is
    about. ways: how the robot did the like, in words. read: the told facts that it rests on. missing: what memory does
    not know, where it abstains.
    """

    question: str
    text: str
    mode: Mode
    confidence: float
    propositions: tuple[Proposition, ...] = ()
    ways: tuple[str, ...] = ()
    steps: tuple[StandardStep, ...] = ()
    object_ids: tuple[str, ...] = ()
    read: tuple[ToldFact, ...] = ()
    missing: str = ""

    @property
    def abstains(self) -> bool:
        """Whether nothing is known that answers."""
        return self.text == NOTHING

    @property
    def words(self) -> str:
        """The answer, or what memory does not know; "" where nothing is to be said."""
        return self.missing if self.abstains else self.text


def said(mode: Mode, propositions: Sequence[Proposition], ways: Sequence[str], zone: tzinfo | None = None) -> str:
    """Return an answer in words without a language model: what is known is quoted, with its days."""
    lines = list(ways) if mode is Mode.PROCEDURAL else []
    ordered = sorted(propositions, key=lambda p: p.stamp_ns) if mode is Mode.EPISODIC else propositions
    lines += [dated(one, zone) if one.subject else told_back(dated(one, zone)) for one in ordered]
    return "\n".join(lines) or NOTHING


def dated(proposition: Proposition, zone: tzinfo | None = None) -> str:
    """Return a proposition with the day on which it was learned, where that is known; what a step showed as past."""
    text = _WHERE.sub(r"\1 was \2 \3", proposition.text)
    return f"{text} ({spoken_day(proposition.stamp_ns, zone)})" if proposition.stamp_ns else text


def episodic_steps(sources: Sequence[str], steps: Mapping[str, StandardStep]) -> list[StandardStep]:
    """Return the steps behind retrieved propositions in the order of time, whole sessions where many fall into one."""
    held = [steps[source] for source in sources[:EPISODIC_HITS] if source in steps]
    counts: dict[str, int] = {}
    for step in held:
        counts[step.session] = counts.get(step.session, 0) + 1
    whole = {session for session, count in counts.items() if count >= WHOLE_SESSION_FROM}
    chosen = {step.source: step for step in held}
    chosen.update((source, step) for source, step in steps.items() if step.session in whole)
    return sorted(chosen.values(), key=lambda step: (step.stamp_ns, step.session, step.index))


# Cosines of unrelated and of equal sentences (all-MiniLM-L6-v2).
_UNLIKE, _LIKE = 0.3, 0.8
# Cosine of a question and an unrelated sentence that share a name.
_UNLIKE_NAMED = 0.45
# Statements by which the question's words are looked for together.
_READ_TOGETHER = 2
# Confidence from which a told statement answers by itself, from which one statement of a document does, and below which
# a statement is no part of an answer; and how near to the best one others are.
_ANSWERS, _WHOLE, _SOME, _NEARLY = 0.51, 0.8, 0.2, 0.8
# Score of a search that found something, and of what is as good as the best, or not too much worse.
_FOUND, _AS_GOOD, _WORSE = 1.0, 0.85, 0.25
_ASKS_REASON = re.compile(r"why\b", re.I)
_ASKS_NUMBER = re.compile(r"how (?:old|tall|heavy|far|much|many|long|big|high)\b", re.I)
# Questions that where a thing was does not answer.
_ASKS_NO_PLACE = re.compile(r"(?:who|whom|whose|why|may|must|should)\b", re.I)
_ASKS_PLACE = re.compile(r"where\b", re.I)
_PLACE = re.compile(r"\b(?:in|on|at|under|behind|near|inside|beside|above|below|between|next to)\b", re.I)
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred)\b", re.I)
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


@dataclass(frozen=True)
class Candidate:
    """A statement that may answer.

    score: of the search; likeness: its cosine with the question; is_read: it stands in a document or talk, where an
    answer often takes several statements.
    """

    proposition: Proposition
    score: float
    likeness: float
    is_read: bool


def answering(
    question: str, found: Sequence[Candidate], idf: Callable[[str], float]
) -> tuple[list[Proposition], float]:
    """Return the statements that answer, in their order, and how sure that is; () where none does.

    Of what was told and done those alone that answer by themselves nearly as well as the best, and what shares a name
    with one that the question does not say. Of what was read the best stretch: all that was found, unless one statement
    answers it all.
    """
    names = names_asked(question)
    sure = [confidence_of(question, [one.proposition], one.likeness, idf) for one in found]
    if _ASKS_NUMBER.match(question):
        sure = [rate if one.is_read or _NUMBER.search(one.proposition.text) else 0.0 for rate, one in zip(sure, found)]
    if _ASKS_NO_PLACE.match(question):
        sure = [0.0 if _WHERE.match(one.proposition.text) else rate for rate, one in zip(sure, found)]
    named = [not names or _names_any(one.proposition, names) for one in found]
    told = [place for place, one in enumerate(found) if not one.is_read]
    best = max((one for one, names_it in zip(sure, named) if names_it), default=0.0)
    chosen = {place for place in told if named[place] and sure[place] >= max(_ANSWERS, _NEARLY * best)}
    chosen |= _linked_with(chosen, told, found, sure, question, idf)
    if _ASKS_REASON.match(question):  # it is told in the same breath
        breath = {source for place in chosen for source in found[place].proposition.sources}
        chosen |= {place for place in told if breath & set(found[place].proposition.sources)}
    least = _NEARLY * best if chosen else 0.0
    read = [place for place, one in enumerate(found) if one.is_read]
    stretch = {place for place in _stretch(read, found, sure, named) if sure[place] >= least}
    if _ASKS_PLACE.match(question) and best >= _WHOLE:  # one statement answers it all
        placed = {place for place in stretch if _PLACE.search(found[place].proposition.statement)}
        stretch = placed or stretch
    chosen |= stretch
    return [found[place].proposition for place in sorted(chosen)], max((sure[place] for place in chosen), default=0.0)


def _linked_with(
    chosen: set[int],
    told: Sequence[int],
    found: Sequence[Candidate],
    sure: Sequence[float],
    question: str,
    idf: Callable[[str], float],
) -> set[int]:
    """Return what answers together with another statement: they share a name that the question does not say."""
    asked = set(names_asked(question))
    linked = set()
    for one in told:
        for other in told:
            first, second = found[one].proposition, found[other].proposition
            if one >= other or not _shared_names(first, second) - asked or min(sure[one], sure[other]) < _SOME:
                continue
            together = confidence_of(question, [first, second], found[one].likeness, idf)
            if {one, other} & chosen or together >= _ANSWERS:
                linked |= {one, other}
    return linked


def _stretch(read: Sequence[int], found: Sequence[Candidate], sure: Sequence[float], named: Sequence[bool]) -> set[int]:
    """Return what of documents and talks answers together."""
    score = max((found[place].score for place in read), default=0.0)
    best = max((sure[place] for place in read), default=0.0)
    if score < _FOUND or best < _SOME or not any(named[place] for place in read):
        return set()
    if best >= _WHOLE:
        return {place for place in read if sure[place] >= _NEARLY * best or found[place].score >= _AS_GOOD * score}
    return {place for place in read if found[place].score >= _WORSE * score}


def _shared_names(one: Proposition, other: Proposition) -> set[str]:
    return set(names_in(one.statement)) & set(names_in(other.statement))


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
    ways: Sequence[str],
    steps: Sequence[StandardStep],
    zone: tzinfo | None = None,
) -> KnowledgeAnswer:
    """Return the answer; it abstains without a statement and a way."""
    if ways and mode is Mode.PROCEDURAL:
        confidence = max(confidence, LEAST_CONFIDENCE)
    if not (propositions or ways):
        return KnowledgeAnswer(question, NOTHING, mode, confidence)
    text = said(mode, propositions, ways, zone)
    return KnowledgeAnswer(question, text, mode, confidence, tuple(propositions), tuple(ways), tuple(steps))
