"""Divides an episode where its subgoal changes, and gives each part its purpose and its return."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.facts import COMPLETE, Prescription
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.standardise import classes_of, episode_steps, subgoal_of

# Subgoals less alike than this begin a new segment (cosine of their embeddings; PlugMem).
CUT_BELOW = 0.75

Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def segments_of(steps: Sequence[StandardStep], embed: Embed) -> list[range]:
    """Return the segments of an episode's steps, as places in them; together they are all of it, in order."""
    if not steps:
        return []
    goals = list(dict.fromkeys(step.subgoal for step in steps))
    vectors = dict(zip(goals, embed(goals)))
    cuts = [
        place
        for place in range(1, len(steps))
        if float(vectors[steps[place].subgoal] @ vectors[steps[place - 1].subgoal]) < CUT_BELOW
    ]
    return [range(begin, end) for begin, end in zip([0, *cuts], [*cuts, len(steps)])]


def return_of(done: int, tried: int, achieved: bool) -> float:
    """Return 1 to 10 for how far a segment led: 10 all, 8 to 9 with failures on the way, else by the share done."""
    share = done / tried if tried else 0.0
    if achieved:
        return COMPLETE if done == tried else 8.0 + share
    if not done:
        return 1.0
    return 2.0 + 5.0 * share


def prescriptions_of(episode: EpisodeSummary, steps: Sequence[StepRecord], embed: Embed) -> list[Prescription]:
    """Return one prescription for each segment of an episode, failed ones too; none for an episode of one segment.

    The whole of a successful episode has its own (`extraction.prescription_of`). Intents and advice name classes alone,
    nothing of the particular place. A segment achieved its subgoal when its last step worked.
    """
    segments = segments_of(episode_steps(episode, steps), embed)
    if len(segments) < 2:
        return []
    return [way for segment in segments if (way := _prescription(episode, [steps[at] for at in segment])) is not None]


def _prescription(episode: EpisodeSummary, steps: Sequence[StepRecord]) -> Prescription | None:
    wanted = subgoal_of(steps[-1].action)
    if not wanted:
        return None
    worked = [step for step in steps if step.success]
    returned = return_of(len(worked), len(steps), steps[-1].success)
    actions = tuple(f"{step.action.skill}({', '.join(classes_of(step.action))})" for step in steps)
    advice = _advice(wanted, steps)
    return Prescription(
        f"get to: {wanted}", actions, (episode.id,), episode.ended_ns, returned=round(returned, 1), advice=advice
    )


def _advice(wanted: str, steps: Sequence[StepRecord]) -> str:
    """Return in words what worked and what did not."""
    done = ", then ".join(_said(step) for step in steps if step.success)
    failed = "; ".join(
        f"{_said(step)} failed ({str(step.reason).replace('_', ' ')})" for step in steps if not step.success
    )
    told = [f"To get to {wanted}: {done}." if done else f"Nothing led to {wanted}.", f"{failed}." if failed else ""]
    return " ".join(part for part in told if part)


def _said(step: StepRecord) -> str:
    return " ".join((step.action.skill, *classes_of(step.action)))
