"""Compares what came of a step with what the scenario wants: by the world, the calls and the words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.life.calls import plain
from benchmarks.life.day_form import Want
from benchmarks.life.home import USER, USER_CLASS, is_person, pieces_of, room_called, whole_of
from benchmarks.life.robot_life import Standing, Trace, Tried, standing_of
from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.skill import FailureReason, SkillResult
from memory_node.domain.states import ObjectState
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World

HAND_PLACE = "hand"
_HANDED_M = 1.0
_MOVED_M = 0.05
_S, _P = ObjectState, Property
_SWITCHED = frozenset({_S.OPENED, _S.CLOSED, _S.ON, _S.OFF})
_TREATED = frozenset({_S.HEATED, _S.COOKED, _S.COLD, _S.CLEANED, _S.DIRTY, _S.FILLED, _S.USED_UP})


@dataclass(frozen=True)
class HomeRecord:
    """The home as it was at one moment. held: what was in the hand, and what that carried."""

    standing: Mapping[str, Standing]
    states: Mapping[str, frozenset[ObjectState]]
    held: frozenset[str]

    @classmethod
    def of(cls, world: World) -> HomeRecord:
        """Return the home as it is now."""
        held = world.held
        carried = {one.id for one in world.with_contents(held)} if held is not None else set()
        return cls(standing_of(world), {one.id: frozenset(one.states) for one in world}, frozenset(carried))


@dataclass(frozen=True)
class StepOutcome:
    """What came of one step. said: question, answer, notes, message and failures. is_question: it was a question in
    words, on which nothing may be moved."""

    trace: Trace
    success: bool
    asked: bool
    said: str
    before: HomeRecord
    is_question: bool = False


@dataclass(frozen=True)
class Verdict:
    """What of a step is not as wanted, by key of `want`; right where nothing is."""

    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether all is as wanted."""
        return not self.problems


def judge(want: Want, outcome: StepOutcome, world: World, robot: Pose) -> Verdict:
    """Return what of a step is not as wanted."""
    found = {
        **_of_the_home(want, outcome, world, robot),
        **_of_the_calls(want, outcome),
        **_of_the_words(want, outcome),
    }
    if outcome.is_question:
        touched = _touched(outcome, world, ())
        found["ask"] = f"moved or changed {', '.join(touched)} on a question" if touched else ""
    return Verdict({key: text for key, text in found.items() if text})


def _of_the_home(want: Want, outcome: StepOutcome, world: World, robot: Pose) -> dict[str, str]:
    at = [f"{thing} is not at {place}" for thing, place in want.at.items() if not is_at(world, robot, thing, place)]
    states = [
        f"{thing} is {'not ' if one.holds else ''}{one.state}"
        for thing, wanted in want.state.items()
        for one in wanted
        if is_in_state(world, thing, one.state) != one.holds
    ]
    touched = _touched(outcome, world, want.only) if want.only is not None else ()
    return {"at": "; ".join(at), "state": "; ".join(states), "only": ", ".join(touched)}


def _of_the_calls(want: Want, outcome: StepOutcome) -> dict[str, str]:
    trace = outcome.trace
    missing = [call for call in want.calls if not any(one.success and _fits(call, one) for one in trace.tried)]
    tried = [call for call in want.no_calls if any(_fits(call, one) for one in trace.tried)]
    calls, searches = len(trace.results), searches_of(trace.results)
    metres = sum((one.distance_m for one in trace.results), 0.0)
    return {
        "calls": f"not called: {'; '.join(missing)}" if missing else "",
        "no_calls": f"called: {'; '.join(tried)}" if tried else "",
        "most_calls": _more(calls, want.most_calls),
        "most_searches": _more(searches, want.most_searches),
        "most_metres": _more(metres, want.most_metres),
    }


def _of_the_words(want: Want, outcome: StepOutcome) -> dict[str, str]:
    unsaid = [" | ".join(words) for words in want.says if not any(is_said(one, outcome.said) for one in words)]
    said = [one for one in want.silent_on if is_said(one, outcome.said)]
    asks, done = want.asks is not None and want.asks != outcome.asked, want.done not in (None, outcome.success)
    return {
        "says": f"not said: {'; '.join(unsaid)}" if unsaid else "",
        "silent_on": f"said: {', '.join(said)}" if said else "",
        "asks": f"asked: {str(outcome.asked).lower()}" if asks else "",
        "done": f"done: {str(outcome.success).lower()}" if done else "",
    }


def _more(count: float, most: float | None) -> str:
    return f"{count:.4g}" if most is not None and count > most else ""


def _fits(text: str, tried: Tried) -> bool:
    skill, *things = text.split()
    meant = tried.meant
    return plain(skill) == meant.skill and all(thing in meant.things for thing in things)


def searches_of(results: Sequence[SkillResult]) -> int:
    """Return how many places were searched: those that Explore visited, at least one a call, and drives in vain."""
    explored = sum(max(one.explored_areas, 1) for one in results if one.call.skill == "Explore")
    return explored + sum(one.call.skill == "GoToObject" and one.reason is FailureReason.NOT_FOUND for one in results)


def is_said(words: str, text: str) -> bool:
    """Return whether a text contains words in sequence, whole and in any case; "*" stands for any ending."""
    parts = [re.escape(part[:-1]) + r"\w*" if part.endswith("*") else re.escape(part) for part in words.split()]
    return re.search(r"(?<!\w)" + r"\W+".join(parts) + r"(?!\w)", text, re.IGNORECASE) is not None


# --- things and places


def things_meant(world: World, name: str) -> list[Thing]:
    """Return the things that an id, the pieces of a cut thing, or a class mean."""
    if name == USER_CLASS:
        return pieces_of(world, USER)
    return pieces_of(world, name) or world.of_class(name)


def is_at(world: World, robot: Pose, name: str, place: str) -> bool:
    """Return whether a thing is directly on or in a place, in a room, in the hand, or with a person."""
    return any(_is_there(world, robot, thing, place) for thing in things_meant(world, name))


def _is_there(world: World, robot: Pose, thing: Thing, place: str) -> bool:
    if place == HAND_PLACE:
        return thing.parent_id == HAND
    room = room_called(world, place) if place not in world else None
    if room is not None:
        return room.contains(float(thing.box.center[0]), float(thing.box.center[1]))
    places = {one.id: one for one in things_meant(world, place)}
    if thing.parent_id in places:
        return True
    near = (one for one in places.values() if is_person(one))
    return thing.parent_id == HAND and any(horizontal_distance(one.box, robot.position) <= _HANDED_M for one in near)


def is_in_state(world: World, name: str, state: ObjectState) -> bool:
    """Return whether a thing is in a state; one that was cut is sliced."""
    return any(state in thing.states for thing in things_meant(world, name))


# --- what was left alone


def _touched(outcome: StepOutcome, world: World, allowed: Collection[str]) -> list[str]:
    """Return the ids of other things that were moved, changed or held."""
    before, now = outcome.before, HomeRecord.of(world)
    found = set(_changed(before, now, outcome.trace.held, world)) | (outcome.trace.held - before.held)
    return sorted(one for one in found if one not in allowed and whole_of(one) not in allowed)


def _changed(before: HomeRecord, now: HomeRecord, held: Collection[str], world: World) -> Iterator[str]:
    for thing_id in before.standing.keys() | now.standing.keys():
        if thing_id in before.held:
            continue
        was, is_ = before.standing.get(thing_id), now.standing.get(thing_id)
        if was is None or is_ is None:
            yield thing_id
            continue
        fixed = world[thing_id].fixed
        moved = was.parent_id != is_.parent_id or _apart(was, is_, before, now) > _MOVED_M
        moved &= not came_down(was, is_, before, held)
        aside = _SWITCHED | (
            _TREATED if thing_id not in held and _stands_in_appliance(world, thing_id) else frozenset()
        )
        if (moved and not fixed) or (before.states[thing_id] ^ now.states[thing_id]) - aside:
            yield thing_id


def came_down(was: Standing, is_: Standing, before: HomeRecord, held: Collection[str]) -> bool:
    """Return whether a thing lies lower at the same spot: what was below it was taken away, nobody moved it."""
    below = before.standing.get(was.parent_id) if was.parent_id in held else None
    shift = is_.center - was.center
    is_there = is_.parent_id in (was.parent_id, below.parent_id if below is not None else was.parent_id)
    return is_there and bool(shift[2] < 0) and float(np.linalg.norm(shift[:2])) <= _MOVED_M


def _apart(was: Standing, is_: Standing, before: HomeRecord, now: HomeRecord) -> float:
    """Return how far a thing has moved (m), on or in what it stands on: what moves along has not."""
    there, here = before.standing.get(was.parent_id), now.standing.get(is_.parent_id)
    if there is None or here is None:
        return float(np.linalg.norm(is_.center - was.center)) if is_.parent_id != HAND else 0.0
    return float(np.linalg.norm(_seen_from(here, is_.center) - _seen_from(there, was.center)))


def _seen_from(support: Standing, center: FloatArray) -> FloatArray:
    pose = Pose.planar(support.center[0], support.center[1], support.yaw_rad, support.center[2])
    return np.asarray(pose.inverse().apply(center))


def _stands_in_appliance(world: World, thing_id: str) -> bool:
    able = (_P.HEATS, _P.COOLS, _P.DRAINS, _P.BREWS)
    return any(support.type.can(one) for support in world.supports(world[thing_id]) for one in able)
