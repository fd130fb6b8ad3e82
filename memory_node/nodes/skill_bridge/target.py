"""What a skill is about, as the bridge sees it: a remembered thing, and the thing in the hand.

Base and arm need an oriented box in map and how the hand grips, which no `WorldState` has; whether a skill may be done
is asked of a `WorldState` made of them (performer.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import FailureReason, ObjectReference, SkillFailure, StateChange
from memory_node.domain.states import ObjectState, believed
from memory_node.scene_graph.state import ROBOT_ID
from memory_node.world.state import called

# A remembered place may be this far from the thing that it is about.
SAME_PLACE_M = 0.75
# A thing outside these heights above the robot's ground is on another floor (m).
_ON_THIS_FLOOR_M = (-0.5, 2.6)


def is_on_another_floor(position: FloatArray, base: FloatArray) -> bool:
    """Return whether a place is on another floor than the robot's base; both (x, y, z) in map."""
    low_m, high_m = _ON_THIS_FLOOR_M
    return not low_m <= position[2] - base[2] <= high_m


@dataclass(frozen=True, eq=False)
class Target:
    """A thing: memory's id, its box in map, the states that are believed, and what it is on or (`inside`) in."""

    object_id: str
    object_class: str
    box: OrientedBox
    states: frozenset[ObjectState] = frozenset()
    support_id: str = ""
    inside: bool = False

    @classmethod
    def of_answer(cls, answer: ObjectAnswer) -> Target:
        """Return what memory answered."""
        box = OrientedBox(answer.position, answer.size, answer.yaw_rad)
        states = frozenset(believed(answer.states))
        return cls(answer.object_id, answer.object_class, box, states, answer.support_id, answer.inside)

    @classmethod
    def of_scene_object(cls, found: SceneObject) -> Target:
        """Return an object of the scene graph."""
        states = frozenset(believed(found.states))
        return cls(found.id, found.class_name, found.box, states, found.support_id, found.inside)

    @property
    def reference(self) -> str:
        """The thing as Class@x,y,z, which means the same to every executor."""
        return str(ObjectReference.at(self.object_class, self.box.center))

    def after(self, change: StateChange) -> Target:
        """Return the thing after a change."""
        ended = {*change.removed, *(other for state in change.added for other in state.opposites)}
        box = self.box
        if change.position is not None:
            box = OrientedBox(np.array(change.position), box.size, box.yaw_rad)
        moved = change.held is not None
        return replace(
            self,
            box=box,
            states=frozenset((self.states - ended) | set(change.added)),
            support_id=change.support_id if moved else self.support_id,
            inside=change.inside if moved else self.inside,
        )


@dataclass(frozen=True, eq=False)
class Grip:
    """How a thing is held: the tool came from above or from the front, and is this far above the thing's centre."""

    from_above: bool = True
    tool_above_m: float = 0.0


class Hand:
    """What the hand holds: what memory says when the node starts, then by the skills that it runs."""

    def __init__(self) -> None:
        self.held: Target | None = None
        self.grip = Grip()
        self.known = False

    def recall(self, objects: Iterable[SceneObject]) -> None:
        """Take over what memory says that the robot holds."""
        self.held = next((Target.of_scene_object(one) for one in objects if one.support_id == ROBOT_ID), None)
        self.known = True

    @property
    def held_class(self) -> str:
        """The class of what is held, "" when the hand is empty."""
        return self.held.object_class if self.held is not None else ""

    def take(self, target: Target, grip: Grip | None = None) -> None:
        """Hold a thing; its box stays where it was taken from."""
        self.held, self.grip, self.known = target, grip or Grip(), True

    def release(self) -> None:
        """Hold nothing."""
        self.held, self.known = None, True

    def forget(self) -> None:
        """Forget what is held; memory is asked again."""
        self.held, self.known = None, False

    def holds(self, text: str) -> bool:
        """Return whether an argument names what is held: by id, by class, or by class and where it was taken from."""
        if self.held is None:
            return False
        if text in (self.held.object_id, self.held.object_class):
            return True
        reference = ObjectReference.parse(text)
        if reference.position is None or reference.object_class != self.held.object_class:
            return False
        return float(np.linalg.norm(self.held.box.center[:2] - reference.position[:2])) <= SAME_PLACE_M


_ENOUGH = 20
_AROUND_M = 1.0
# So many things that skills were about are kept by id, for calls that name one which memory has merged since.
_MET = 100


class TargetLookup:
    """Memory as the skills see it, with what the running skill has changed since memory was last told.

    Args:
        memory: answers.
        hand: what it holds is meant before anything that is remembered.
        robot_pose: returns the pose of the base in map: of equals, the nearest is meant.
    """

    def __init__(self, memory: MemoryPort, hand: Hand, robot_pose: Callable[[], Pose]) -> None:
        self._memory = memory
        self._hand = hand
        self._robot_pose = robot_pose
        self._changed: dict[str, Target] = {}
        self._met: dict[str, Target] = {}

    def start(self) -> None:
        """Forget the last skill's changes, which its caller has told memory. The first call asks memory what is
        held."""
        self._changed = {}
        if not self._hand.known:
            self._hand.recall(self._memory.scene().objects)

    def note(self, target: Target, change: StateChange) -> None:
        """Believe a change of the running skill."""
        self._changed[target.object_id] = self._latest(target).after(change)

    def resolve(self, text: str) -> Target:
        """Return what an object argument means; an id that memory has merged into another means what is there now.

        Raises:
            SkillFailure: NOT_FOUND; PRECONDITION while the map's frame is not verified.
        """
        return self._meet(self._resolved(text))

    def renewed(self, target: Target) -> Target:
        """Return a thing as memory has it now; as it was when memory knows it no more."""
        try:
            return self.resolve(target.object_id)
        except SkillFailure:
            return target

    def _resolved(self, text: str) -> Target:
        if self._hand.held is not None and self._hand.holds(text):
            return self._latest(self._hand.held)
        if text in self._changed:
            return self._changed[text]
        reference = ObjectReference.parse(text)
        held_id = self._hand.held.object_id if self._hand.held is not None else ""
        near = self._robot_pose().position if reference.position is None else np.array(reference.position)
        query = FindQuery(object_class=reference.object_class, near=(near[0], near[1], near[2]), k=_ENOUGH)
        answers = [answer for answer in self._memory.find(query).answers if answer.object_id != held_id]
        if reference.position is not None:
            answers = [one for one in answers if np.linalg.norm(one.position - near) <= SAME_PLACE_M]
        if answers:
            return self._latest(Target.of_answer(_trusted(answers, near)))
        if reference.position is not None:
            message = f"memory knows no {reference.object_class} within {SAME_PLACE_M} m of there"
            raise SkillFailure(FailureReason.NOT_FOUND, message)
        return self._by_id(text)

    def support_of(self, target: Target) -> Target | None:
        """Return what a thing is on or in, as far as that is remembered."""
        if not target.support_id:
            return None
        if target.support_id in self._changed:
            return self._changed[target.support_id]
        found = (one for one in self._memory.scene().objects if one.id == target.support_id)
        return next((self._latest(Target.of_scene_object(one)) for one in found), None)

    def around(self, target: Target) -> list[Target]:
        """Return the other things close to one, without what carries it and what is in the hand."""
        skipped = {target.object_id, target.support_id}
        skipped |= {self._hand.held.object_id} if self._hand.held is not None else set()
        found = [self._latest(Target.of_scene_object(one)) for one in self._memory.scene().objects if not one.removed]
        reach = _AROUND_M + 0.5 * float(np.linalg.norm(target.box.size))
        return [
            one
            for one in found
            if one.object_id not in skipped and np.linalg.norm(one.box.center - target.box.center) <= reach
        ]

    def seen_since(self, object_class: str, since_ns: int, passed_over: frozenset[str] = frozenset()) -> Target | None:
        """Return an object of a class that was seen after a moment and is not passed over, or None."""
        fresh = [one for one in self._answers_since(object_class, since_ns) if one.object_id not in passed_over]
        return self._meet(Target.of_answer(max(fresh, key=lambda answer: answer.last_seen_ns))) if fresh else None

    def all_seen_since(self, object_class: str, since_ns: int) -> list[Target]:
        """Return the objects of a class that were seen after a moment, as memory has them."""
        return [Target.of_answer(answer) for answer in self._answers_since(object_class, since_ns)]

    def search_places(self, object_class: str) -> tuple[str, ...]:
        """Return the places "x,y" where memory expects a class, likeliest first."""
        areas = self._memory.rank_search_areas(object_class)
        return tuple(f"{area.position[0]:.3f},{area.position[1]:.3f}" for area in areas)

    def place(self, text: str) -> FloatArray | None:
        """Return (x, y) in map of "x,y" or of an area's id; None when the text is neither."""
        try:
            x, y = (float(number) for number in text.split(",")[:2])
        except ValueError:
            found = (area for area in self._memory.scene().areas if area.id == text)
            return next((np.array(area.position) for area in found), None)
        return np.array([x, y])

    def _answers_since(self, object_class: str, since_ns: int) -> list[ObjectAnswer]:
        answers = self._memory.find(FindQuery(object_class=object_class, k=_ENOUGH)).answers
        return [answer for answer in answers if answer.last_seen_ns > since_ns]

    def _by_id(self, text: str) -> Target:
        scene = self._memory.scene()
        found = called(text, scene.objects)
        if found is None and text in self._met:
            found = _now_at(self._met[text], scene)
        if found is None:
            raise SkillFailure(FailureReason.NOT_FOUND, f"memory knows no object or class {text!r}")
        if not scene.frame_verified:
            raise SkillFailure(FailureReason.PRECONDITION, _UNVERIFIED)
        return self._latest(Target.of_scene_object(found))

    def _meet(self, target: Target) -> Target:
        """Keep what a caller is told of by its id."""
        self._met.pop(target.object_id, None)
        self._met[target.object_id] = target
        while len(self._met) > _MET:
            del self._met[next(iter(self._met))]
        return target

    def _latest(self, target: Target) -> Target:
        return self._changed.get(target.object_id, target)


def _trusted(answers: Sequence[ObjectAnswer], near: FloatArray) -> ObjectAnswer:
    """Return the nearest object that is probably still there; objects on the robot's floor come first."""

    def doubts(one: ObjectAnswer) -> tuple[bool, bool, float]:
        elsewhere = is_on_another_floor(one.position, near)
        return one.status is not AnswerStatus.OK, elsewhere, float(np.linalg.norm(one.position - near))

    best = min(answers, key=doubts)
    if best.status is AnswerStatus.FRAME_NOT_VERIFIED:
        raise SkillFailure(FailureReason.PRECONDITION, _UNVERIFIED, best.object_id)
    return best


def _now_at(gone: Target, scene: SceneSnapshot) -> SceneObject | None:
    """Return the object of its class that is where one was whose id memory no longer has, or None. Furniture that was
    merged extends over that place, but its middle may be far off."""
    alike = [one for one in scene.objects if one.class_name == gone.object_class and not one.removed]
    gaps_m = {one.id: one.box.distance_m(gone.box.center[:2]) for one in alike}
    near = [one for one in alike if gaps_m[one.id] <= SAME_PLACE_M]
    return min(near, key=lambda one: (gaps_m[one.id], np.linalg.norm(one.box.center - gone.box.center)), default=None)


_UNVERIFIED = "memory's frame is not verified: confirm that the robot is localised in it first"
