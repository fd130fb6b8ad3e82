"""REST: questions to memory; each verb is the service of its name."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from memory_node.domain.answer import FindQuery, ObjectAnswer, RankedArea
from memory_node.inspector import rest_answers as answers
from memory_node.inspector import rest_models as models
from memory_node.inspector.agent_answers import PlaceToLook, found_object, place_to_look
from memory_node.inspector.context_rows import section_rows
from memory_node.inspector.inspector import Here, Reader
from memory_node.inspector.scene_rows import nanoseconds, seconds
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.mode import Mode

router = APIRouter(tags=["questions"])
_DEFAULT_K = 5
_OLD_S = 24 * 3600.0


@router.post("/find_objects")
def find_objects(asked: models.FindObjects, here: Here, _: Reader) -> answers.RankedObjects:
    """Where is it? Searches the long-term scene graph."""
    query = _query(asked, area_id=asked.area_id, as_of_ns=nanoseconds(asked.as_of_s))
    found = here.memory.find(query)
    return answers.RankedObjects(
        status=str(found.status), explanation=found.explanation, objects=list(map(ranked_object, found.answers))
    )


@router.post("/recall_objects")
def recall_objects(asked: models.RecallObjects, here: Here, _: Reader) -> answers.RankedObjects:
    """Search what has just been seen or used: the short-term memory."""
    found = here.memory.recall(_query(asked))
    return answers.RankedObjects(
        status=str(found.status), explanation=found.explanation, objects=list(map(ranked_object, found.answers))
    )


@router.post("/locate_object")
def locate_object(asked: models.LocateObject, here: Here, _: Reader) -> answers.LocatedObjects:
    """Say where a thing is by either memory, or where to look for it first."""
    query = _query(
        asked,
        area_id=asked.area_id,
        exclude_ids=frozenset(asked.exclude_ids),
        exclude_supports=frozenset(asked.exclude_supports),
    )
    found = here.memory.locate(query, asked.max_areas)
    return answers.LocatedObjects(
        status=str(found.status),
        explanation=found.explanation,
        objects=list(map(ranked_object, found.answers)),
        areas=list(map(place_to_look, found.areas)),
    )


@router.post("/rank_search_areas")
def rank_search_areas(asked: models.RankSearchAreas, here: Here, _: Reader) -> list[PlaceToLook]:
    """Say where a thing of a class is likely, best first."""
    areas: tuple[RankedArea, ...] = here.memory.rank_search_areas(asked.object_class, asked.k)
    return list(map(place_to_look, areas))


@router.post("/ask_memory")
def ask_memory(asked: models.AskMemory, here: Here, _: Reader) -> answers.Answer:
    """Say what is known: of what is now by the scene graph, else from episodes, people and what was read."""
    answer = here.household.ask(asked.question, Mode(asked.mode) if asked.mode else None, asked.k)
    return answers.Answer(
        answer=answer.text or None,
        abstains=answer.abstains,
        confidence=round(answer.confidence, 4),
        mode=str(answer.mode),
        object_ids=list(answer.ids),
        propositions=list(map(statement, answer.propositions)),
    )


@router.post("/get_context")
def get_context(asked: models.GetContext, here: Here, _: Reader) -> answers.ContextText:
    """Return what a language model is sent of memory for an instruction, section by section."""
    context = here.memory.context(asked.instruction, asked.token_budget, asked.episode_id)
    return answers.ContextText(
        context_id=context.id,
        text=context.text,
        tokens=context.tokens,
        token_budget=asked.token_budget,
        sections=[answers.Section(**row) for row in section_rows(context)],
    )


@router.get("/scene_text")
def scene_text(here: Here, _: Reader, token_budget: models.Tokens = 2000) -> str:
    """Describe the whole home in words within a budget (srv/GetSceneGraph)."""
    return here.memory.scene_text(token_budget)


def ranked_object(answer: ObjectAnswer) -> answers.RankedObject:
    """Return an answer with what ranks it."""
    return answers.RankedObject(
        **found_object(answer).model_dump(), score=round(answer.score, 4), source=answer.source, why=why(answer)
    )


def why(answer: ObjectAnswer) -> list[str]:
    """Return the reasons for and against an answer, the strongest first: fit, class, presence, age, status."""
    reasons = [
        f"relevance {answer.score:.2f}",
        f"{answer.object_class} with probability {answer.class_probability:.2f}",
        f"still there with probability {answer.existence:.2f}",
    ]
    if answer.age_s >= _OLD_S:
        reasons.append(f"last seen {answer.age_s / _OLD_S:.0f} days ago")
    reasons += [f"{belief.state} with probability {belief.probability:.2f}" for belief in answer.states]
    if answer.last_missed_ns:
        reasons.append("looked for in vain since it was last seen")
    if answer.explanation:
        reasons.append(answer.explanation)
    return reasons


def statement(proposition: Proposition) -> answers.Statement:
    """Return a proposition as REST gives it."""
    return answers.Statement(
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


def _query(asked: models.RecallObjects, **more: Any) -> FindQuery:
    near = None if asked.position is None else (asked.position[0], asked.position[1], asked.position[2])
    return FindQuery(
        text=asked.text,
        object_class=asked.object_class,
        states=tuple(asked.states),
        near=near,
        k=asked.k or _DEFAULT_K,
        **more,
    )
