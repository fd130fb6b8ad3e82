"""Where is it, or where should one look for it: both memories and the map, asked as one."""

from __future__ import annotations

from collections.abc import Callable

from memory_node.domain.answer import AnswerStatus, FindQuery, Location, ObjectAnswer, RankedArea, Recollection


def locate(
    query: FindQuery,
    recall: Callable[[FindQuery], Recollection],
    find: Callable[[FindQuery], Recollection],
    rank_search_areas: Callable[[str, int], tuple[RankedArea, ...]],
    max_areas: int = 0,
) -> Location:
    """Return what the short-term memory is sure of, else what the long-term memory is sure of, else what either doubts;
    and wherever nobody is sure, the places where the thing is likely.

    recall, find: ask the two memories; the second is only asked when the first is not sure. rank_search_areas: of a
    class, or of the query's words where it names none; max_areas: at most so many, 0 for all.
    """
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


def _surest_first(answers: tuple[ObjectAnswer, ...]) -> tuple[ObjectAnswer, ...]:
    """Return answers in their order, but for what is likely gone, which comes after the others."""
    return tuple(sorted(answers, key=lambda answer: answer.status is not AnswerStatus.OK))
