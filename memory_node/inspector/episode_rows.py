"""Episodes and their steps as plain values."""

from __future__ import annotations

from typing import Any

from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.inspector.agent_memory import MemoryViews
from memory_node.inspector.scene_rows import seconds


def episodes_value(views: MemoryViews, newest: int) -> dict[str, Any]:
    """Return the newest episodes and the running one's last steps in words; told: whether the memory tells episodes."""
    found = views.episodes(newest)
    return {
        "told": found is not None,
        "episodes": list(map(episode_row, found or ())),
        "running": views.working_memory() or "",
    }


def episode_row(episode: EpisodeSummary) -> dict[str, Any]:
    """Return an episode; success None: it runs, or nobody can say."""
    return {
        "id": episode.id,
        "instruction": episode.instruction,
        "task_type": episode.task_type,
        "started_s": seconds(episode.started_ns),
        "ended_s": seconds(episode.ended_ns),
        "success": episode.success,
        "attempt": episode.attempt,
        "robot": episode.robot_id,
    }


def step_row(step: StepRecord) -> dict[str, Any]:
    """Return a step."""
    return {
        "index": step.index,
        "action": str(step.action),
        "success": step.success,
        "reason": str(step.reason),
        "message": step.message,
        "stamp_s": seconds(step.stamp_ns),
        "room": step.room,
        "held": step.held_object,
        "duration_s": round(step.duration_s, 2),
    }
