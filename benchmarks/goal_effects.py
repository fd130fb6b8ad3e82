"""What goals bring about, one thing after the other, however they were grouped: for comparing readings."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.planner.goal import Goal, Mention

_PREPARATION = (GoalKind.FETCH, GoalKind.FIND)
_TREATING = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL, GoalKind.SLICE)


def effects(goals: Sequence[Goal], treatments: bool = False) -> tuple[str, ...]:
    """Return lines such as "clean Apple", "2 Pen at Drawer", "Apple near Bowl", "examine Book with DeskLamp".

    Cutting that the words only imply ("put a slice of bread on the table") counts as cutting, and what is fetched or
    found only to be used by a later goal is left out. treatments: "boil Egg" instead of "heat Egg".
    """
    lines: list[str] = []
    for index, goal in enumerate(goals):
        used_later = any(str(goal.target) == str(later.target) for later in goals[index + 1 :])
        if not (goal.kind in _PREPARATION and used_later):
            lines += _of_one(goal, treatments)
    return cut_once(lines)


def cut_once(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines without those that cut a thing again: peeling and slicing are one effect."""
    cut = [line.split()[-1] if line.startswith("slice ") else line for line in lines]
    return tuple(
        line for index, line in enumerate(lines) if index == cut.index(cut[index]) or not line.startswith("slice ")
    )


def _of_one(goal: Goal, treatments: bool) -> list[str]:
    quantity = "" if goal.asked else "all " if goal.every else f"{goal.count} " if goal.count > 1 else ""
    done = _done(
        goal, goal.treatment if treatments and goal.treatment else str(GOALS[goal.kind].comes_to or goal.kind), quantity
    )
    if goal.kind is GoalKind.SLICE:
        return done
    moved = str(goal.target)
    lines = [*([f"slice {moved}"] if goal.sliced else []), *done]
    if goal.container is not None:
        lines.append(f"{moved} at {goal.container}")
        moved = str(goal.container)
    if goal.destination is not None:
        lines.append(f"{quantity}{moved} {_where(goal.destination)}")
    return lines


def _done(goal: Goal, verb: str, quantity: str) -> list[str]:
    """Return what is done with the target besides placing it. The quantity is told once, where it is placed."""
    if goal.kind in (GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK):
        return []
    if (GOALS[goal.kind].comes_to or goal.kind) in _TREATING:
        return [f"{verb} {'' if goal.destination is not None else quantity}{goal.target}"]
    if goal.kind is GoalKind.EXAMINE:
        return [f"examine {goal.target} with {goal.light}"]
    return [" ".join(word for word in (str(goal.kind), quantity.strip(), str(goal.target), goal.asked) if word)]


def _where(destination: Mention) -> str:
    if destination.original_place:
        return "back"
    return f"{'near' if destination.beside else 'at'} {destination}"
