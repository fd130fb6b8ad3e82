"""Episodes and their steps, as the page and agents are told them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, Field

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.brief_state import delta_to_rows
from memory_node.context.guidance import CompiledStep
from memory_node.context.told_contexts import PastEpisode, ToldContext
from memory_node.episodes.working_memory import warnings_of
from memory_node.inspector.agent_memory import MemoryViews
from memory_node.inspector.answers import At, ContextText, Cost, Name, Row, Stamp, rounded, several

# Episodes that are looked through for those of an earlier time.
_LOOKED_AT = 1000


class EpisodeRow(Row):
    """An instruction and how it ended; success null: it runs, or nobody can say."""

    id: str
    instruction: str
    task_type: str
    started_s: Annotated[Stamp, At("started_ns")]
    ended_s: Annotated[Stamp, At("ended_ns")]
    success: bool | None
    attempt: int
    robot: Annotated[str, At("robot_id")]


class EpisodeList(BaseModel):
    """The newest episodes; told: whether this memory tells episodes; running: the running one's last steps in words."""

    told: bool
    episodes: Annotated[list[EpisodeRow], several(EpisodeRow)]
    running: str


class StepRow(Row):
    """A step."""

    index: int
    action: Name
    success: bool
    reason: Name
    message: str
    reasoning: str
    stamp_s: Annotated[Stamp, At("stamp_ns")]
    room: str
    held: Annotated[str, At("held_object")]
    duration_s: Annotated[float, rounded(2)]


class WarnedStep(StepRow):
    """A step with memory's warnings."""

    warnings: list[str]


class CompiledRow(Row):
    """What was delivered at a step; guidance "": none. state: the brief state, a line each part. lessons: the words of
    those that it used."""

    delivery: Annotated[Name, At("compiled.delivery")]
    guidance: str
    reason: str
    state: list[str]
    changes: list[str]
    ms: Annotated[float, At("milliseconds"), rounded(2)]
    problem: Annotated[str, At("compiled.problem")]
    lessons: list[str]


class SentContext(ContextText):
    """A context as a planner was sent it, with what the budget left out, and the steps that it chose by it."""

    instruction: str
    stamp_s: Stamp
    steps: list[int]


class LessonRow(Row):
    """What experience advises."""

    text: str
    kind: Name
    helped: Annotated[float, At("given.total")]
    tried: Annotated[int, At("given.trials")]


class EpisodeDetail(BaseModel):
    """What an episode took so far, its steps, guidance by step, prompts, and the lessons that it used and taught."""

    cost: Cost
    notes: list[str] = Field(
        description="what the planner had to say on the way: facts that bind, lessons, substitutes"
    )
    steps: list[WarnedStep]
    compiled: list[CompiledRow]
    prompts: list[SentContext]
    used: Annotated[list[LessonRow], several(LessonRow)]
    guidelines: Annotated[list[LessonRow], several(LessonRow)]


def episodes_value(views: MemoryViews, newest: int, as_of_ns: int = 0) -> EpisodeList:
    """Return the newest episodes and the running one's last steps in words; told: whether the memory tells episodes.

    as_of_ns: only those that had begun then, as far as the newest _LOOKED_AT hold them; one that had not ended then is
    told as running. 0: now.
    """
    found = views.episodes(_LOOKED_AT if as_of_ns else newest)
    shown, running = list(found or ()), ""
    if as_of_ns:
        begun = [one for one in shown if one.started_ns <= as_of_ns][:newest]
        shown = [replace(one, ended_ns=0, success=None) if one.ended_ns > as_of_ns else one for one in begun]
    else:
        running = views.working_memory(found) or ""
    return EpisodeList(told=found is not None, episodes=list(map(EpisodeRow.of, shown)), running=running)


def episode_value(views: MemoryViews, kinds: ObjectCatalogue, episode_id: str, found: PastEpisode) -> EpisodeDetail:
    """Return an episode's steps with their warnings, what was compiled for them, prompts, and its lessons.

    prompts: the contexts that a planner was sent and chose steps by. used: lessons that these tell, that the compiler
    drew on or told, and those that the planner names; guidelines: those that the episode taught.
    """
    known, notes = views.lessons() or (), found.account.notes
    steps, compiled = found.steps, found.compiled
    words = {one.id: one.text for one in known}
    entries = {entry for step in compiled if step.guidance is not None for entry in step.guidance.entries}
    entries |= {lesson for context in found.contexts for lesson in context.lessons}
    told = {text for step in compiled for text in step.compiled.lessons}
    used = (one for one in known if one.id in entries or one.text in told or one.note in notes)
    return EpisodeDetail(
        cost=Cost.of(found.account.cost, sum(step.duration_s for step in steps)),
        notes=list(notes),
        steps=[WarnedStep.of(step, warnings=list(told)) for step, told in zip(steps, warnings_of(steps, kinds))],
        compiled=[_compiled_row(step, words) for step in compiled],
        prompts=list(map(_prompt_row, found.contexts)),
        used=list(map(LessonRow.of, used)),
        guidelines=[LessonRow.of(one) for one in known if episode_id in one.episodes],
    )


def _prompt_row(told: ToldContext) -> SentContext:
    text = ContextText.of(told.context, told.token_budget)
    return SentContext(**dict(text), instruction=told.instruction, stamp_s=told.stamp_ns, steps=list(told.steps))


def _compiled_row(step: CompiledStep, known: Mapping[str, str]) -> CompiledRow:
    """Return what was delivered at a step. known: the words of memory's lessons by their ids."""
    guidance = step.guidance
    entries = guidance.entries if guidance is not None else ()
    return CompiledRow.of(
        step,
        guidance=guidance.text if guidance is not None else "",
        reason=guidance.reason if guidance is not None else "",
        state=list(step.state.lines()),
        changes=list(map(_change, delta_to_rows(step.compiled.delta))),
        lessons=[*step.compiled.lessons, *(known[one] for one in entries if one in known)],
    )


def _change(operation: dict[str, Any]) -> str:
    """Return an operation on a brief state in words."""
    before = operation.get("old") or "; ".join(operation.get("texts", ()))
    after = operation.get("text") or operation.get("into", "")
    return f"{operation['op']} {operation['section']}: {before + ' → ' if before else ''}{after}"
