"""What agents and programs are answered: pydantic models with the names and units of the ROS messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from memory_node.domain.answer import Location, ObjectAnswer, RankedArea, Recollection
from memory_node.domain.context import Context
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.step import EpisodeSummary, ModelCost
from memory_node.domain.token_count import estimate_tokens
from memory_node.inspector.edit_book import Edit
from memory_node.inspector.household import Answered
from memory_node.inspector.scene_rows import seconds
from memory_node.knowledge.facts import Proposition
from memory_node.questions.thing_words import BELIEVED, ThingWords

_DAY_S = 24 * 3600.0


class FoundObject(BaseModel):
    """One remembered thing, and what ranks it."""

    object_id: str
    object_class: str
    class_probability: float
    position_m: list[float] = Field(description="centre (x, y, z) in the frame `frame_id`, in metres")
    frame_id: str
    room: str | None
    area_id: str | None
    support_id: str | None = Field(description="the object that it stands on or in; null: none is known")
    inside: bool
    states: list[str]
    existence: float = Field(description="how likely it is still there, 0 to 1")
    age_s: float = Field(description="seconds since it was last seen")
    status: str = Field(description="OK, or why the answer is doubtful")
    explanation: str
    score: float = Field(description="relevance to the question, 0 to 1; answers come in this order")
    source: str = Field(description="short_term or long_term")
    why: list[str] = Field(description="what speaks for it and against it, in words")

    @classmethod
    def of(cls, answer: ObjectAnswer) -> FoundObject:
        """Return an answer of memory."""
        return cls(
            object_id=answer.object_id,
            object_class=answer.object_class,
            class_probability=round(answer.class_probability, 4),
            position_m=[round(float(value), 3) for value in answer.position],
            frame_id=answer.frame_id,
            room=answer.room_name or None,
            area_id=answer.area_id or None,
            support_id=answer.support_id or None,
            inside=answer.inside,
            states=[str(belief.state) for belief in answer.states],
            existence=round(answer.existence, 4),
            age_s=round(answer.age_s, 1),
            status=str(answer.status),
            explanation=answer.explanation,
            score=round(answer.score, 4),
            source=answer.source,
            why=why(answer),
        )


def why(answer: ObjectAnswer) -> list[str]:
    """Return the reasons for and against an answer, the strongest first: fit, class, presence, age, status."""
    reasons = [
        f"relevance {answer.score:.2f}",
        f"{answer.object_class} with probability {answer.class_probability:.2f}",
        f"still there with probability {answer.existence:.2f}",
    ]
    if answer.age_s >= _DAY_S:
        reasons.append(f"last seen {answer.age_s / _DAY_S:.0f} days ago")
    reasons += [f"{belief.state} with probability {belief.probability:.2f}" for belief in answer.states]
    if answer.last_missed_ns:
        reasons.append("looked for in vain since it was last seen")
    if answer.explanation:
        reasons.append(answer.explanation)
    return reasons


class PlaceToLook(BaseModel):
    """A place where a thing is likely."""

    area_id: str
    name: str
    position_m: list[float] = Field(description="(x, y) in map, in metres")
    probability: float
    reason: str

    @classmethod
    def of(cls, area: RankedArea) -> PlaceToLook:
        """Return a ranked area."""
        return cls(
            area_id=area.area_id,
            name=area.name,
            position_m=[round(float(value), 3) for value in area.position],
            probability=round(area.probability, 4),
            reason=area.reason,
        )


class Found(BaseModel):
    """Answers, best first; none where memory abstains. status and explanation say why."""

    status: str
    explanation: str
    objects: list[FoundObject]

    @classmethod
    def of(cls, answer: Recollection | Location) -> Found:
        """Return what memory found."""
        objects = list(map(FoundObject.of, answer.answers))
        return cls(status=str(answer.status), explanation=answer.explanation, objects=objects)


class Located(Found):
    """Where a thing is, or where to look for it."""

    areas: list[PlaceToLook]


class Statement(BaseModel):
    """A proposition. sources: the steps that showed or said it; made_by: what read it out of them."""

    text: str
    told: bool = Field(description="a person told it")
    teller: str = Field(description="who told it, or what its document is about; empty: unknown")
    concepts: list[str]
    sources: list[str]
    support: int
    stamp_s: float
    active: bool
    made_by: str

    @classmethod
    def of(cls, proposition: Proposition) -> Statement:
        """Return a proposition."""
        return cls(
            text=proposition.text,
            told=proposition.was_told,
            teller=proposition.teller,
            concepts=sorted(proposition.concepts),
            sources=list(proposition.sources),
            support=proposition.support,
            stamp_s=seconds(proposition.stamp_ns),
            active=proposition.active,
            made_by=proposition.made_by,
        )


class Answer(BaseModel):
    """What is known of a question."""

    answer: str | None = Field(description="in words; null where nothing is known at all")
    abstains: bool = Field(description="memory does not know; the answer then says what it does not know")
    confidence: float
    mode: str
    object_ids: list[str] = Field(description="the things that the answer is about")
    propositions: list[Statement] = Field(description="the statements behind the answer, best first")

    @classmethod
    def of(cls, answer: Answered) -> Answer:
        """Return an answer to a question."""
        return cls(
            answer=answer.text or None,
            abstains=answer.abstains,
            confidence=round(answer.confidence, 4),
            mode=str(answer.mode),
            object_ids=list(answer.ids),
            propositions=list(map(Statement.of, answer.propositions)),
        )


class WhatChanged(BaseModel):
    """What changed since a moment."""

    changes: list[str] = Field(description="what came, went, moved and became of things, in words")


class ToldEpisode(BaseModel):
    """One instruction and how it ended."""

    episode_id: str
    instruction: str
    started: str = Field(description="local time, ISO 8601")
    ended: str | None = Field(description="null: it runs")
    success: bool | None = Field(description="null: it runs, or was given up")


class ToldEpisodes(BaseModel):
    """What the robot was told to do, the newest first."""

    episodes: list[ToldEpisode]

    @classmethod
    def of(cls, episodes: Iterable[EpisodeSummary]) -> ToldEpisodes:
        """Return episodes in their order."""
        rows = [
            ToldEpisode(
                episode_id=one.id,
                instruction=one.instruction,
                started=_clock_time(one.started_ns),
                ended=_clock_time(one.ended_ns) if one.ended_ns else None,
                success=one.success,
            )
            for one in episodes
        ]
        return cls(episodes=rows)


class Thing(BaseModel):
    """All that is known of one thing."""

    object_id: str
    name: str
    aliases: list[str]
    object_class: str
    where: str = Field(description="in words")
    position_m: list[float] = Field(description="centre (x, y, z) in map, in metres")
    size_m: list[float]
    room: str | None
    support_id: str | None = Field(description="the object that it stands on or in; null: none is known")
    support: str | None = Field(description="its name")
    inside: bool
    states: list[str]
    existence: float = Field(description="how likely it is still there, 0 to 1")
    is_there: bool = Field(description="false: it is gone, and this is where it was last")
    age_s: float = Field(description="seconds since it was last seen")
    on_or_in_it: list[str] = Field(description="names of what stands on it or in it")
    earlier_places: int = Field(description="how many are on record")

    @classmethod
    def of(cls, found: SceneObject, scene: SceneSnapshot, words: ThingWords, now_ns: int) -> Thing:
        """Return one object; scene: what stands where."""
        names = {one.id: one.name for one in scene.objects}
        return cls(
            object_id=found.id,
            name=found.name,
            aliases=list(found.aliases),
            object_class=found.class_name,
            where=words.gone(found) if found.removed else words.whereabouts(found),
            position_m=[round(float(value), 3) for value in found.box.center],
            size_m=[round(float(value), 3) for value in found.box.size],
            room=words.room_of(found) or None,
            support_id=found.support_id or None,
            support=names.get(found.support_id),
            inside=found.inside,
            states=[str(belief.state) for belief in found.states if belief.probability >= BELIEVED],
            existence=round(found.existence, 4),
            is_there=not found.removed,
            age_s=round((now_ns - found.last_seen_ns) * 1e-9, 1),
            on_or_in_it=[one.name for one in scene.objects if one.support_id == found.id],
            earlier_places=len(found.history),
        )


class Section(BaseModel):
    """One section of a context. A section that is left out wholly has no tokens."""

    name: str
    tokens: int
    lines: int = Field(description="how many of its lines are in the text")
    cut: list[str] = Field(description="its lines that the budget left out")
    cut_tokens: int = Field(description="tokens of these")


class ContextText(BaseModel):
    """A context as a language model is sent it."""

    context_id: str
    text: str
    tokens: int
    token_budget: int
    sections: list[Section] = Field(description="in their order, those that were left out wholly at the end")

    @classmethod
    def of(cls, context: Context, token_budget: int) -> ContextText:
        """Return a context that was made within a budget."""
        cut = context.cut
        sections = [
            Section(
                name=name,
                tokens=context.section_tokens.get(name, 0),
                lines=context.section_lines.get(name, 0),
                cut=list(cut.get(name, ())),
                cut_tokens=estimate_tokens("\n".join(cut[name])) if name in cut else 0,
            )
            for name in dict.fromkeys((*context.section_tokens, *cut))
        ]
        budget = {"tokens": context.tokens, "token_budget": token_budget}
        return cls(context_id=context.id, text=context.text, sections=sections, **budget)


class EditRecord(BaseModel):
    """What became of an edit."""

    id: str
    who: str
    what: str
    stamp_s: float
    state: Literal["waiting", "done", "undone", "failed"]
    undoable: bool
    ids: list[str] = Field(description="objects that carry on or are new; of a told fact its statements")
    due_s: float = Field(description="when it is carried out, where it waits")
    message: str = Field(description="why it failed, or what else came of it")

    @classmethod
    def of(cls, edit: Edit) -> EditRecord:
        """Return an edit on record."""
        return cls(
            id=edit.id,
            who=edit.who,
            what=edit.words,
            stamp_s=seconds(edit.stamp_ns),
            state=edit.state,
            undoable=edit.undoable,
            ids=list(edit.ids),
            due_s=seconds(edit.due_ns),
            message=edit.message,
        )


class Cost(BaseModel):
    """What an instruction took."""

    tokens_in: int = Field(description="that a language model was sent")
    tokens_cached: int = Field(description="of those, the ones that its endpoint had read before, as far as it says")
    tokens_out: int = Field(description="that it wrote")
    replies: int = Field(description="how often it was asked")
    model_s: float = Field(description="seconds that it took")
    usd: float = Field(description="by the prices of the planner's parameters; 0: none are given")
    robot_s: float = Field(description="seconds of the robot's skills")

    @classmethod
    def of(cls, cost: ModelCost, robot_s: float) -> Cost:
        """Return the cost of a language model with the robot's seconds."""
        rounded = {"model_s": round(cost.model_s, 2), "usd": round(cost.usd, 6), "robot_s": round(robot_s, 2)}
        return cls(**{**asdict(cost), **rounded})


class TaskState(BaseModel):
    """How far an instruction is, or what became of it."""

    task_id: str
    instruction: str
    state: Literal["running", "done", "failed", "asks", "canceled"] = Field(
        description="asks: nothing was done; give the answer to `question` as the next instruction"
    )
    step: int = Field(description="how many skills were begun")
    skill: str = Field(description="what the robot does now")
    plan: list[str] = Field(description="what is still to do, in words")
    notes: list[str] = Field(description="what the planner had to say on the way: warnings, substitutes")
    message: str = Field(description="why it failed, or the answer to a question")
    question: str
    choices: list[str]
    episode_id: str = Field(description="its steps: memory://episodes/ID")
    cost: Cost


def _clock_time(stamp_ns: int) -> str:
    return datetime.fromtimestamp(stamp_ns * 1e-9).isoformat(timespec="seconds")
