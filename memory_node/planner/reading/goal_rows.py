"""Tidies the goals of an instruction: what is only a step of the next goal, or said twice, goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal, Mention

_K = GoalKind
_PLACING = (_K.PLACE, _K.PLACE_TWO)
_TREATING = (_K.CLEAN, _K.HEAT, _K.COOL)


def tidied(goals: Sequence[Goal], lamps: Sequence[str], appliances: Mapping[GoalKind, str]) -> list[Goal]:
    """Return the goals without fetching and finding that the next one implies, and without what is said twice.

    "Take X, turn on the lamp" is one goal, to look at X in its light. "Fetch X" with nothing that follows brings it to
    the person, who is its destination. appliances: the class that cleans, heats, cools.
    """
    tidy: list[Goal] = []
    for goal in _as_told_before(goals):
        goal = _in_its_room(goal, tidy)
        if tidy and _implies(goal, tidy[-1], lamps, appliances):
            goal = _in_its_light(goal, tidy.pop(), lamps)
        if tidy and _lit(goal, tidy[-1], lamps):
            tidy[-1] = Goal(_K.EXAMINE, tidy[-1].target, light=goal.target, text=goal.text)
        elif not _is_said_already(goal, tidy):
            tidy.append(goal)
    left = [goal for index, goal in enumerate(tidy) if not _is_approach(goal, tidy[index + 1 :])]
    left = [goal for index, goal in enumerate(left) if not _is_taken_first(goal, left[index + 1 :])]
    # "put it on the sofa, wait, the sofa is wet, ...": only the last one is meant as an order
    left = [goal for goal in left if goal.kind is not _K.WAIT or goal is left[-1]]
    left = [goal.changed(kind=_K.PLACE) if _is_brought(goal) else goal for goal in left]
    others = [goal for goal in left if not _is_let_be(goal)]  # "take the big bowl, leave the small one"
    return others or left


def _as_told_before(goals: Sequence[Goal]) -> Iterator[Goal]:
    """Yield goals in which "it" is where it was told to be when the goals before spoke of it."""
    told: dict[str, Mention] = {}
    for goal in goals:
        thing = goal.target
        before = told.setdefault(thing.object_class, thing) if thing.referring else thing
        told[thing.object_class] = before
        yield goal.changed(target=replace(thing, on=thing.on or before.on, room=thing.room or before.room))


def _is_brought(goal: Goal) -> bool:
    return goal.kind is _K.FETCH and goal.destination is not None


def _is_let_be(goal: Goal) -> bool:
    return goal.kind is _K.STOP and goal.text.split()[:1] == ["leave"]


def _implies(goal: Goal, before: Goal, lamps: Sequence[str], appliances: Mapping[GoalKind, str]) -> bool:
    """Return whether the goal before is only a step of a goal."""
    same = before.target.object_class == goal.target.object_class != "" and goal.condition == before.condition
    if before.kind is _K.FETCH:
        return same and goal.kind not in (_K.FIND, _K.TELL)
    if before.kind is _K.FIND:
        return same and not before.asked
    if before.kind is _K.TELL and before.asked == "place":
        return same and goal.target.referring and goal.kind in (*_PLACING, _K.FETCH)  # "where is the mug? Bring it"
    if before.kind is _K.SWITCH_ON and goal.kind is _K.EXAMINE and goal.light is not None:
        return before.target.object_class in (*goal.light.candidates, *lamps)
    if before.kind in _PLACING and before.destination is not None:
        on_the_way = before.destination.object_class in _places_of_work(goal, lamps, appliances)
        return same and on_the_way
    return False


def _in_its_room(goal: Goal, tidy: list[Goal]) -> Goal:
    """Return a goal that says where in a room, in that room: "take the books to the bedroom and put them on the bed".
    The goal that only named the room goes."""
    place = goal.destination
    if goal.kind not in _PLACING or place is None or place.room or not goal.target.referring:
        return goal
    before = [one for one in tidy if one.target.object_class == goal.target.object_class][-1:]
    room = before[0].destination if before and before[0].kind in _PLACING else None
    if room is None or not room.room or room.candidates:
        return goal
    tidy.remove(before[0])
    return goal.changed(destination=replace(place, room=room.room))


def _places_of_work(goal: Goal, lamps: Sequence[str], appliances: Mapping[GoalKind, str]) -> Sequence[str]:
    """Return the classes of what a thing is carried to for a goal: lamps, an appliance, a vessel."""
    if goal.kind is _K.EXAMINE:
        return lamps
    if goal.kind in _TREATING:
        return [appliances[goal.kind]] if goal.kind in appliances else []
    if goal.kind is _K.STACK and goal.container is not None:
        return [goal.container.object_class]
    return []


def _in_its_light(goal: Goal, before: Goal, lamps: Sequence[str]) -> Goal:
    """Return the goal with the lamp that the one before leads to: "carry it to the floor lamp and look at it"."""
    place = before.destination if before.kind in _PLACING else before.target
    lamp = goal.kind is _K.EXAMINE and place is not None and place.object_class in lamps
    return goal.changed(light=place) if lamp else goal


def _lit(goal: Goal, before: Goal, lamps: Sequence[str]) -> bool:
    """Return whether a lamp is switched on while the thing taken before is held."""
    is_lamp = goal.kind is _K.SWITCH_ON and goal.target.object_class in lamps
    taken = before.kind is _K.FETCH and before.destination is None
    return taken and is_lamp and before.target.object_class not in lamps


def _is_said_already(goal: Goal, before: Sequence[Goal]) -> bool:
    """Return whether the last goal about the same thing is the same one."""
    about = [one for one in before if one.target.object_class == goal.target.object_class]
    return bool(about) and _same(goal, about[-1])


def _same(goal: Goal, before: Goal) -> bool:
    if goal.kind is before.kind is _K.EXAMINE and goal.light is not None and goal.light.referring:
        return True  # "hold it under the floor lamp and look at it"
    alike = goal.treatment == before.treatment or not (goal.treatment and before.treatment)
    alike &= (goal.target.on, goal.target.room) == (before.target.on, before.target.room)
    return alike and str(goal) == str(before) and goal.condition == before.condition and not goal.target.another


def _is_taken_first(goal: Goal, later: Sequence[Goal]) -> bool:
    """Return whether a thing is only taken to be put down later: "take the book and the pen, put them on the bed"."""
    placed = (one for one in later if one.kind in _PLACING and one.condition == goal.condition)
    places = (one.target for one in placed if one.target.referring)
    return goal.kind is _K.FETCH and any(one.object_class == goal.target.object_class for one in places)


def _is_approach(goal: Goal, later: Sequence[Goal]) -> bool:
    """Return whether a goal only drives somewhere on the way: "go to the counter, pick up the mug"."""
    if goal.asked or (later and goal.condition != later[0].condition):
        return False
    if later and goal.kind is later[0].kind is _K.FIND and goal.text == later[0].text:
        return False  # "find a pencil and a book"
    return goal.kind in (_K.FIND, _K.GO) and bool(later) and later[0].kind not in (_K.GO, _K.TELL, _K.WAIT, _K.STOP)
