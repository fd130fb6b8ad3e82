"""Episodes and their steps as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.guidance import CompiledStep
from memory_node.context.past_episode import PastEpisode
from memory_node.context.state_operations import delta_to_rows
from memory_node.context.told_contexts import ToldContext
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.working_memory import warnings_of
from memory_node.inspector.agent_memory import MemoryViews
from memory_node.inspector.answers import ContextText, Cost
from memory_node.inspector.scene_rows import seconds
from memory_node.lessons.lesson import Lesson

# Episodes that are looked through for those of an earlier time.
_LOOKED_AT = 1000


def episodes_value(views: MemoryViews, newest: int, as_of_ns: int = 0) -> dict[str, Any]:
    """Return the newest episodes and the running one's last steps in words; told: whether the memory tells episodes.

    as_of_ns: only those that had begun then, as far as the newest _LOOKED_AT hold them; one that had not ended then is
    told as running. 0: now.
    """
    if not as_of_ns:
        found = views.episodes(newest)
        running = views.working_memory(found) or ""
        return {"told": found is not None, "episodes": list(map(episode_row, found or ())), "running": running}
    found = views.episodes(_LOOKED_AT)
    begun = [one for one in found or () if one.started_ns <= as_of_ns][:newest]
    then = [replace(one, ended_ns=0, success=None) if one.ended_ns > as_of_ns else one for one in begun]
    return {"told": found is not None, "episodes": list(map(episode_row, then)), "running": ""}


def episode_value(views: MemoryViews, kinds: ObjectCatalogue, episode_id: str, found: PastEpisode) -> dict[str, Any]:
    """Return an episode's steps with their warnings, what was compiled for them, prompts, and its lessons.

    prompts: the contexts that a planner was sent and chose steps by. used: lessons that the compiler drew on;
    guidelines: those that the episode taught.
    """
    known = views.lessons() or ()
    steps, compiled = found.steps, found.compiled
    words = {one.id: one.text for one in known}
    entries = {entry for step in compiled if step.guidance is not None for entry in step.guidance.entries}
    cost = Cost.of(found.cost, sum(step.duration_s for step in steps))
    return {
        "cost": cost.model_dump(),
        "steps": [
            {**step_row(step), "warnings": list(warnings)} for step, warnings in zip(steps, warnings_of(steps, kinds))
        ],
        "compiled": [compiled_row(step, words) for step in compiled],
        "prompts": list(map(prompt_row, found.contexts)),
        "used": [_lesson(one) for one in known if one.id in entries],
        "guidelines": [_lesson(one) for one in known if episode_id in one.episodes],
    }


def prompt_row(told: ToldContext) -> dict[str, Any]:
    """Return a context as a planner was sent it, with what the budget left out, and the steps that it chose by it."""
    text = ContextText.of(told.context, told.token_budget).model_dump()
    return {**text, "instruction": told.instruction, "stamp_s": seconds(told.stamp_ns), "steps": list(told.steps)}


def compiled_row(step: CompiledStep, known: Mapping[str, str]) -> dict[str, Any]:
    """Return what was delivered at a step; guidance "": none. state: the brief state, a line each part. lessons: the
    words of those that it used. known: the words of memory's lessons by their ids."""
    guidance = step.guidance
    entries = guidance.entries if guidance is not None else ()
    return {
        "delivery": str(step.compiled.delivery),
        "guidance": guidance.text if guidance is not None else "",
        "reason": guidance.reason if guidance is not None else "",
        "state": list(step.state.lines()),
        "changes": list(map(_change, delta_to_rows(step.compiled.delta))),
        "ms": round(step.milliseconds, 2),
        "problem": step.compiled.problem,
        "lessons": [*step.compiled.lessons, *(known[one] for one in entries if one in known)],
    }


def _change(operation: dict[str, Any]) -> str:
    """Return an operation on a brief state in words."""
    before = operation.get("old") or "; ".join(operation.get("texts", ()))
    after = operation.get("text") or operation.get("into", "")
    return f"{operation['op']} {operation['section']}: {before + ' → ' if before else ''}{after}"


def _lesson(found: Lesson) -> dict[str, Any]:
    return {"text": found.text, "kind": str(found.kind), "helped": found.given.total, "tried": found.given.trials}


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
