"""Checks a language model's plan against the skill library and against what is known of the home."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import ALL_SKILLS, ArgumentKind, check_call
from memory_node.planner.skill_parser import NotAPlanError
from memory_node.world.skills import after, unmet
from memory_node.world.state import Thing, WorldState

_AROUND_M = 5.0


@dataclass(frozen=True)
class KnownSpace:
    """The part of the map, (x, y) in metres, that the robot can be sent to."""

    low: tuple[float, float]
    high: tuple[float, float]

    @classmethod
    def of(cls, scene: SceneSnapshot) -> KnownSpace | None:
        """Return what lies around the areas and objects of a scene, None while there are none."""
        areas = [np.asarray(area.position[:2]) for area in scene.areas]
        places = areas + [np.asarray(found.box.center[:2]) for found in scene.objects]
        if not places:
            return None
        (low_x, low_y), (high_x, high_y) = np.min(places, axis=0), np.max(places, axis=0)
        return cls(
            (float(low_x) - _AROUND_M, float(low_y) - _AROUND_M), (float(high_x) + _AROUND_M, float(high_y) + _AROUND_M)
        )

    def holds(self, x: float, y: float) -> bool:
        """Return whether a position is in it; one that is not a number is not."""
        return self.low[0] <= x <= self.high[0] and self.low[1] <= y <= self.high[1]


_EVERYWHERE = KnownSpace((-1e5, -1e5), (1e5, 1e5))


def check_plan(
    plan: Sequence[SkillCall],
    kinds: ObjectCatalogue,
    known_ids: Collection[str],
    held_class: str = "",
    space: KnownSpace | None = None,
    skills: frozenset[str] = ALL_SKILLS,
    strangers: Collection[str] = (),
) -> None:
    """Check names, places and the hand: what is taken, carried and put down, step by step.

    known_ids: ids of objects and areas that memory or the robot have given. space: where positions may be; None:
    anywhere. skills: those that the robot does. strangers: classes that are known here although the label space
    lacks them.

    Raises:
        NotAPlanError: a call names something that does not exist, or cannot work after the calls before it.
    """
    state = WorldState(kinds, at=None)
    if held_class:
        state = state.with_thing(Thing(held_class, held_class)).holding(held_class)
    for number, call in enumerate(plan, start=1):
        skill = check_call(call)
        where = f"call {number}, {call}"
        if skill.name not in skills:
            raise NotAPlanError(f"{where}: {skill.name} is not available on this robot")
        for index, text in enumerate(call.arguments):
            declared = skill.arguments[min(index, len(skill.arguments) - 1)]
            position = None
            if text not in known_ids:
                is_area = declared.kind is ArgumentKind.AREA
                position = _area_position(text) if is_area else _named(text, kinds, strangers, where)
            if position is not None and not (space or _EVERYWHERE).holds(*position):
                raise NotAPlanError(f"{where}: {text!r} is outside of the map that is known")
            if text not in state.things and not class_of(text, kinds, known_ids):
                state = state.with_thing(Thing(text, "", object_id=text))
        broken = next(iter(unmet(skill, state, call)), None)
        if broken is not None:
            raise NotAPlanError(f"{where}: {broken.said}; {broken.remedy}")
        # Where things are the plan does not say: from a place nothing is known to be out of reach.
        state = after(skill, state, call).standing_at(None)


def _named(text: str, kinds: ObjectCatalogue, strangers: Collection[str], where: str) -> tuple[float, float] | None:
    """Return where an object argument says that it is, None where it does not."""
    try:
        reference = ObjectReference.parse(text)
    except InvalidValueError as error:
        raise NotAPlanError(f"{where}: {error}") from None
    if reference.object_class not in kinds and reference.object_class not in strangers:
        raise NotAPlanError(f"{where}: {text!r} is neither a known id nor a class of thing")
    return reference.position[:2] if reference.position is not None else None


def _area_position(text: str) -> tuple[float, float] | None:
    """Return the position "x,y" that stands for an area, None for a name."""
    try:
        x, y, *_ = (float(number) for number in text.split(","))
    except ValueError:
        return None
    return x, y


def class_of(text: str, kinds: ObjectCatalogue, known_ids: Collection[str]) -> str:
    """Return the class that an argument names, "" for an id."""
    if text in known_ids and text not in kinds:
        return ""
    return text.partition("@")[0]
