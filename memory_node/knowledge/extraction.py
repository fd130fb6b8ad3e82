"""Reads propositions and a prescription out of a finished episode; deterministic, no language model."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.domain.skill import FailureReason
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.facts import Prescription, Proposition

# These failures say something about the world; the others about the moment.
_TELLING = (FailureReason.CLOSED, FailureReason.WRONG_OBJECT, FailureReason.OCCUPIED, FailureReason.PRECONDITION)


def propositions_of(steps: Sequence[StepRecord]) -> list[Proposition]:
    """Return what the steps showed: where things were, and which actions the world refuses."""
    found = []
    for step in steps:
        source = (f"{step.episode_id}:{step.index}",)
        names = _classes(step)
        if step.success:
            for relation in step.relations:
                concepts = frozenset(word for word in relation.split() if word[:1].isupper())
                found.append(Proposition(relation, concepts, source, step.stamp_ns))
        elif step.reason in _TELLING and names:
            text = f"{step.action.skill}({', '.join(names)}) fails with {step.reason}"
            found.append(Proposition(text, frozenset(names), source, step.stamp_ns))
    return found


def prescription_of(episode: EpisodeSummary, steps: Sequence[StepRecord]) -> Prescription | None:
    """Return the way in which the episode succeeded, or None when it did not."""
    if not episode.success or not episode.instruction.strip():
        return None
    actions = tuple(f"{step.action.skill}({', '.join(_classes(step))})" for step in steps if step.success)
    return Prescription(episode.instruction, actions, (episode.id,), episode.ended_ns) if actions else None


def _classes(step: StepRecord) -> tuple[str, ...]:
    """Return a step's object arguments as classes; positions and places are dropped."""
    names = (text.partition("@")[0] for text in step.action.arguments)
    return tuple(name for name in names if name and "," not in name)
