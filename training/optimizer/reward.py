"""The reward of a candidate: whether it is well formed, and what it does for neighbouring tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_node.lessons.optimizer.attempt import Attempt


@dataclass(frozen=True)
class Rollout:
    """One task carried out by the frozen executor. length: of its trajectory, in steps. attempt: as the optimizer reads
    it. lost: why it could not be carried out, even a second time; it counts as a failure."""

    success: bool
    length: int
    attempt: Attempt | None = None
    lost: str = ""


def gain(reference: Sequence[Rollout], with_memory: Sequence[Rollout]) -> float:
    """Return r_g, the mean over the neighbours of

        c_mem - c_ref + c_mem c_ref (1 - l_mem / l_ref)

    where c is the success and l the length, `ref` with the bank as it is, `mem` with the candidate in it (UMEM).
    """
    if len(reference) != len(with_memory) or not reference:
        raise ValueError(f"gain: {len(reference)} rollouts without the candidate, {len(with_memory)} with it")
    total = 0.0
    for ref, mem in zip(reference, with_memory):
        c_ref, c_mem = float(ref.success), float(mem.success)
        # Two successes took steps each: a length of 0 is a task that was done before it began.
        faster = 1.0 - mem.length / ref.length if ref.length else 0.0
        total += c_mem - c_ref + c_mem * c_ref * faster
    return total / len(reference)


def advantages(rewards: Sequence[float]) -> list[float]:
    """Return r - mean(r) of a group: not divided by the deviation, which would blow up groups that hardly differ."""
    mean = sum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]
