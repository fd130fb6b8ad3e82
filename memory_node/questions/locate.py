"""Answers where a thing is, or where to look for it, from both memories and the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from memory_node.domain.answer import AnswerStatus, FindQuery, Location, ObjectAnswer, RankedArea, Recollection


def locate(
    query: FindQuery,
    recall: Callable[[FindQuery], Recollection],
    find: Callable[[FindQuery], Recollection],
    rank_search_areas: Callable[[str, int], tuple[RankedArea, ...]],
    max_areas: int = 0,
) -> Location:
    """Return the sure answers of the short-term memory, else those of the long-term memory, else the doubtful answers
    of both. Without a sure answer the places where the thing is likely are added.

    recall, find: ask the two memories; the second is only asked when the first is not sure, or when a place is given
    that the thing should be near: what was just used may be a far one of several. Of those that memory is sure of the
    nearest comes first then. rank_search_areas: of a class, or of the query's words where it names none; max_areas: at
    most so many, 0 for all.
    """
    if query.near is not None:
        sure = _nearest_first(query.near, [*recall(query).answers, *find(query).answers])[: query.k]
        if sure:
            return Location(sure, (), AnswerStatus.OK, f"the nearest of {len(sure)} that fit")
    doubted: list[tuple[ObjectAnswer, ...]] = []
    said = []
    for ask in (recall, find):
        recollection = ask(query)
        answers = _surest_first(recollection.answers)
        if answers and answers[0].status is AnswerStatus.OK:
            return Location(answers, (), AnswerStatus.OK, recollection.explanation)
        said.append(recollection.explanation)
        doubted += [answers] if answers else []
    answers = doubted[0] if doubted else ()
    areas = rank_search_areas(query.object_class or query.text, max_areas)
    status = answers[0].status if answers else AnswerStatus.UNKNOWN
    said.append(f"{len(areas)} places to look at" if areas else "no map to look in")
    return Location(answers, areas, status, "; ".join(dict.fromkeys(filter(None, said))))


def _nearest_first(near: tuple[float, float, float], answers: Sequence[ObjectAnswer]) -> tuple[ObjectAnswer, ...]:
    """Return the answers that may be trusted, each thing once, by their distance from a place (x, y, z) in map."""
    sure: dict[str, ObjectAnswer] = {}
    for answer in answers:
        if answer.status is AnswerStatus.OK:
            sure.setdefault(answer.object_id, answer)
    return tuple(sorted(sure.values(), key=lambda answer: math.dist(near, answer.position)))


def _surest_first(answers: tuple[ObjectAnswer, ...]) -> tuple[ObjectAnswer, ...]:
    """Return answers in their order, but for what is likely gone, which comes after the others."""
    return tuple(sorted(answers, key=lambda answer: answer.status is not AnswerStatus.OK))
