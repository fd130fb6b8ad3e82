"""Short names for the things of one episode: "Mug", "Mug 2". A thing keeps its name, whatever reference a call uses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.skill import SkillCall

# A remembered position moves a little with each look.
_SAME_PLACE_M = 0.1


class ThingNames:
    """Names by reference. A reference is what a call may hold: the robot's id, a class, or "Class@x,y,z"."""

    def __init__(self) -> None:
        self._name_of: dict[str, str] = {}
        self._reference_of: dict[str, str] = {}
        self._class_of: dict[str, str] = {}
        self._remembered: dict[str, str] = {}

    def name(self, reference: str, classes: Mapping[str, str]) -> str:
        """Return the name of what a reference means. A bare class means the thing of that class named last, if any."""
        known = self._name_of.get(reference) or self._named_near(reference)
        if known:
            return known
        object_class = classes.get(reference, reference.partition("@")[0]).strip() or reference
        same = [name for name, kind in self._class_of.items() if kind == object_class]
        if reference == object_class and same:
            return same[-1]
        name = self._new_name(object_class)
        self._name_of[reference], self._reference_of[name] = name, reference
        self._class_of[name], self._remembered[name] = object_class, reference
        return name

    def call(self, reference: str, name: str, object_class: str) -> None:
        """Take over what an executor calls a thing, unless that name is another thing's or the thing has one."""
        if reference not in self._name_of and name and name not in self._class_of:
            self._name_of[reference], self._reference_of[name] = name, reference
            self._class_of[name], self._remembered[name] = object_class, reference

    def remembered(self, name: str) -> str:
        """Return how a thing was referred to first, which is how memory knows it; "" for no name."""
        return self._remembered.get(name, "")

    def named(self, call: SkillCall, classes: Mapping[str, str]) -> SkillCall:
        """Return a call over names. Of Explore only the class that it looks for stays."""
        arguments = call.arguments[:1] if call.skill == "Explore" else call.arguments
        if call.skill == "Explore" or any("," in text.partition("@")[0] for text in arguments):
            return SkillCall(call.skill, arguments)
        return SkillCall(call.skill, tuple(self.name(text, classes) for text in arguments))

    def identify(self, reference: str, robot_id: str) -> None:
        """Note that the robot calls a thing by an id of its own from now on."""
        name = self._name_of.get(reference)
        if name is None or not robot_id or robot_id in self._name_of:
            return
        self._name_of[robot_id] = name
        self._reference_of[name] = robot_id

    def referred(self, call: SkillCall) -> SkillCall:
        """Return a call over names as the robot takes it; what is no name, such as a class, stays."""
        return SkillCall(call.skill, tuple(self._reference_of.get(text, text) for text in call.arguments))

    @property
    def classes(self) -> dict[str, str]:
        """The class of each name, in the order in which the things were named first."""
        return dict(self._class_of)

    def _named_near(self, reference: str) -> str:
        """Return the name of a thing of the same class that was referred to at nearly the same place, "" for none."""
        place = _place(reference)
        if place is None:
            return ""
        for other, name in self._name_of.items():
            there = _place(other)
            is_alike = other.partition("@")[0] == reference.partition("@")[0]
            if is_alike and there is not None and math.dist(place, there) <= _SAME_PLACE_M:
                return name
        return ""

    def _new_name(self, object_class: str) -> str:
        numbered = (object_class if n == 1 else f"{object_class} {n}" for n in itertools.count(1))
        return next(name for name in numbered if name not in self._class_of)


def _place(reference: str) -> tuple[float, float, float] | None:
    """Return where a reference says that its thing is; None where it says nothing of that."""
    try:
        return ObjectReference.parse(reference).position
    except InvalidValueError:
        return None
