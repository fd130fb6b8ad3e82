"""Answers from knowledge, and their wording for each kind of memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.mode import Mode
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text.dates import spoken_day
from memory_node.knowledge.told.fact import ToldFact

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
    lines += [dated(proposition, zone) for proposition in ordered]
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
