"""Records episodes: gives experience the steps, completed with what memory knows of the robot and its surroundings."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from memory_node.context.context_writer import first_scene, held_object
from memory_node.context.guidance import KnownThing
from memory_node.context.soft_memory import unsaid
from memory_node.context.told_contexts import ToldContexts
from memory_node.domain.clock import Clock
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import believed
from memory_node.domain.step import NO_ACCOUNT, Deed, DemonstratedStep, EpisodeAccount, StepRecord
from memory_node.episodes.class_actions import class_arguments
from memory_node.episodes.deed_log import DeedLog
from memory_node.episodes.working_memory import ConsistencyWarning
from memory_node.intake.short_term_mirror import TaskObjects
from memory_node.lessons.experience import Experience
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID
from memory_node.world.skills import broken_rules


def named_by_class(call: SkillCall, scene: SceneGraph) -> SkillCall:
    """Return the call with memory's own ids and names as Class@x,y,z: what is learnt of a thing must hold for others
    like it."""
    found = ((text, scene.find(text)) for text in call.arguments)
    return SkillCall(call.skill, tuple(one.reference if one is not None else text for text, one in found))


class KnownThings:
    """A `LookUp` in the scene graph; thread-safe.

    lock: guards it. close_m: horizontal distance from the robot within which a thing is close.
    """

    def __init__(self, scene: SceneGraph, lock: threading.RLock, close_m: float) -> None:
        self._close_m = close_m
        self._scene = scene
        self._lock = lock

    def __call__(self, reference: str, object_class: str) -> KnownThing | None:
        """Return what is believed of the thing that a reference means; None where that is not certain."""
        with self._lock:
            found = self._scene.meant(reference)
            if found is None:
                return None
            support, camera = self._support_of(found), self._scene.camera_at
            return KnownThing(
                found.class_name,
                support.reference if support is not None else "",
                support.class_name if support is not None else "",
                found.inside and support is not None,
                believed(found.states),
                self._is_close(found),
                partial(unsaid, found, camera) if camera is not None else None,
                found.id,
                support.id if support is not None else "",
            )

    def _is_close(self, found: SceneObject) -> bool:
        camera = self._scene.camera_at
        return camera is not None and float(np.linalg.norm(found.box.center[:2] - camera[:2])) <= self._close_m

    def _support_of(self, found: SceneObject) -> SceneObject | None:
        if not found.movable or found.support_id not in self._scene.state.table.row_of or found.support_id == ROBOT_ID:
            return None
        support = self._scene.object(found.support_id)
        return None if support.removed else support


_SURE = 0.9
_SAID = re.compile(r"(\S+) (on|in) (\S+)")


def told_relations(step: StepRecord, scene: SceneGraph) -> tuple[StateChange, ...]:
    """Return what a step's relations tell of things on and in others that the graph does not hold yet.

    If memory knows several such things and none is in reach, the relation is ignored.
    """
    changes = []
    for relation in step.relations:
        said = _SAID.fullmatch(relation)
        if said is None or said.group(1) == step.held_object:
            continue
        told, inside = said.group(1), said.group(2) == "in"
        support = scene.meant(said.group(3), _robot(step))
        thing = scene.meant(told, _robot(step))
        name = told.partition("@")[0]
        if support is None or (thing is None and scene.objects_of_class(name)):
            continue
        if thing is not None and not _is_news(thing, support, inside, step):
            continue
        changes.append(
            StateChange(
                object_id=thing.id if thing is not None else "",
                object_class=thing.class_name if thing is not None else name,
                stamp_ns=step.stamp_ns,
                support_id=support.id,
                inside=inside,
                position=_kept_position(thing, support),
                source="episode",
                probability=_SURE,
            )
        )
    return tuple(changes)


def _robot(step: StepRecord) -> tuple[float, float, float] | None:
    # A step whose teller does not know where the robot was carries the origin.
    return step.position if any(step.position) else None


def _is_news(thing: SceneObject, support: SceneObject, inside: bool, step: StepRecord) -> bool:
    known = (thing.support_id, thing.inside) == (support.id, inside)
    # What the camera saw since then is more recent than the step.
    return not known and thing.support_id != ROBOT_ID and thing.last_seen_ns <= step.stamp_ns


def _kept_position(thing: SceneObject | None, support: SceneObject) -> tuple[float, float, float] | None:
    """Return where the thing was seen, if that agrees with the support: more precise than the support's middle."""
    if thing is None or thing.support_id == ROBOT_ID:
        return None
    x, y, z = (float(value) for value in thing.box.center)
    return (x, y, z) if bool(support.box.contains(np.array([[x, y, support.box.center[2]]]))[0]) else None


def with_surroundings(step: StepRecord, scene: SceneGraph, key_classes: Iterable[str] = ()) -> StepRecord:
    """Return the step with room, area, what is visible and relations filled in where its teller left all of them open.

    key_classes: what the episode has been about so far; of such things those count as visible that are in the same
    area. All other things there would make each state a new one.
    """
    if step.room or step.area or step.relations or step.visible or not step.action.arguments:
        return step
    carried = step.action.skill == "PutObject" or (step.action.skill == "PickupObject" and step.success)
    found = scene.meant(step.action.arguments[0], carried=carried)
    if found is None:
        return step
    area = scene.places.areas.get(found.area_id)
    room = scene.places.rooms.get(area.room_id) if area is not None else None
    return replace(
        step,
        area=area.name if area is not None else "",
        room=room.name if room is not None else "",
        visible=_visible(step, found, scene, key_classes),
        relations=_relations(step, found, scene),
    )


def _visible(step: StepRecord, found: SceneObject, scene: SceneGraph, key_classes: Iterable[str]) -> tuple[str, ...]:
    """Return the classes of key objects in the thing's area, but for the thing itself and what is hidden or held."""
    wanted = {*key_classes, *class_arguments(step)} - {found.class_name, step.held_object}
    table = scene.state.table
    rows = [row for row in scene.state.active_rows().tolist() if not table.sheltered[row]]
    here = {table.record(row).best_class for row in rows if table.record(row).area_id == found.area_id != ""}
    return tuple(sorted(here & wanted))


def _relations(step: StepRecord, found: SceneObject, scene: SceneGraph) -> tuple[str, ...]:
    """Return "Apple on DiningTable" for where the thing is, or was until it was picked up."""
    support_id, inside = found.support_id, found.inside
    if step.action.skill == "PickupObject" and found.history:
        support_id, inside = found.history[-1].support_id, False
    support = scene.find(support_id)
    if support is None:
        return ()
    return (f"{found.class_name} {'in' if inside else 'on'} {support.class_name}",)


# Skills that only lead to a thing.
_NO_DEEDS = frozenset({"Explore", "GoToObject"})

# What may lie in the place itself, and not in what the robot does there.
_OF_THE_PLACE = frozenset({FailureReason.UNREACHABLE, FailureReason.NOT_VISIBLE, FailureReason.PRECONDITION})


def deed_of(step: StepRecord, scene: SceneGraph, carried: Deed | None) -> Deed | None:
    """Return the deed of a step that has just ended; None where it only led to a thing, or failed for a cause that is
    declared.

    carried: by which the hand was last filled: a step may still call the thing by the place where it was taken.
    """
    arguments = step.action.arguments
    if step.action.skill in _NO_DEEDS or not arguments or not (step.success or _is_unexplained(step)):
        return None
    found = scene.meant(arguments[0], carried=True)
    if found is None and carried is not None and carried.object_class == arguments[0].partition("@")[0]:
        found = _known(carried.object_id, scene)
    # What was cut is no more, and its deed is told all the same.
    found = found or _known(arguments[0], scene)
    class_name = found.class_name if found is not None else arguments[0].partition("@")[0]
    before = _known(_stood_on(found, step.success), scene) if found is not None else None
    if step.action.skill == "PutObject" and step.success and found is not None and found.support_id != ROBOT_ID:
        to = _known(found.support_id, scene)
    else:
        to = scene.meant(arguments[1]) if len(arguments) > 1 else None
    return Deed(
        f"{step.episode_id}:{step.index}",
        step.action.skill,
        found.id if found is not None else "",
        class_name,
        step.stamp_ns,
        before.id if before is not None else "",
        before.class_name if before is not None else "",
        to.id if to is not None else "",
        to.class_name if to is not None else arguments[1].partition("@")[0] if len(arguments) > 1 else "",
        "" if step.success else str(step.reason),
        step.tried,
        found.description if found is not None else "",
    )


def _stood_on(thing: SceneObject, has_moved: bool) -> str:
    """Return the id of what a thing stood on before a step; "" where nobody knows."""
    if not has_moved:
        return thing.support_id
    return thing.history[-1].support_id if thing.history else ""


def _is_unexplained(step: StepRecord) -> bool:
    """Return whether a step failed although nothing that is declared was missing: a locked door, a shelf too high."""
    declared = broken_rules(SKILLS.get(step.action.skill), step.reason)
    return step.reason.by_chance or (step.reason in _OF_THE_PLACE and not declared)


def _known(object_id: str, scene: SceneGraph) -> SceneObject | None:
    return scene.find(object_id) if object_id and object_id != ROBOT_ID else None


# The rules take milliseconds; only at start-up, when stored episodes are being loaded, a lesson comes later.
_LESSON_S = 2.0


@dataclass(eq=False)
class Episodes:
    """An `ExperiencePort` in the memory's own process; thread-safe.

    lock: guards the scene graph. remember: takes over what a step tells of where things are. task_objects: learns what
    the episodes are about. told: what each context said. deeds: what
    was done with which thing.
    """

    experience: Experience
    scene: SceneGraph
    lock: threading.RLock
    remember: Callable[[Sequence[StateChange]], object]
    task_objects: TaskObjects
    told: ToldContexts
    clock: Clock
    deeds: DeedLog

    def __post_init__(self) -> None:
        for episode in self.experience.running:
            self.task_objects.start(episode.id, episode.instruction)

    @property
    def max_attempts(self) -> int:
        """How often one task may be tried, the first time counted in."""
        return self.experience.config.max_attempts

    def start(self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1) -> str:
        """Begin an episode, or go on with it, and return its id; its instruction is the task that states matter for."""
        with self.lock:
            first = first_scene(self.scene)
        started_id = self.experience.start(instruction, task_type, episode_id, attempt, first)
        if self._is_running(started_id):  # what has ended stays so
            self.task_objects.start(started_id, instruction)
        return started_id

    def _is_running(self, episode_id: str) -> bool:
        return any(one.id == episode_id for one in self.experience.running)

    def record(self, step: StepRecord, context_id: str = "") -> tuple[ConsistencyWarning, ...]:
        """Record a step of a running episode, with what memory knows of it; return its warnings.

        What the skill changed is told by `remember`, before; of the step itself only the relations that it names go
        into the scene graph, where they are news. A zero stamp means now. context_id: of the context by which the step
        was chosen; the lessons in it count as given from now on.

        Raises:
            NotFoundError: the episode is not running.
        """
        key_classes = self.experience.key_classes(step.episode_id)
        step = replace(step, stamp_ns=step.stamp_ns or self.clock())
        with self.lock:
            told = told_relations(step, self.scene)
            known = self._with_hand(replace(step, action=named_by_class(step.action, self.scene)))
            surrounded = with_surroundings(known, self.scene, key_classes)
            deed = deed_of(step, self.scene, self.deeds.last("PickupObject"))
        warnings = self.experience.record(surrounded)
        if deed is not None:
            self.deeds.add(deed)
        if told:
            self.remember(told)
        return (*warnings, *self._note_context(context_id, step))

    def end(
        self, episode_id: str, success: bool | None, message: str = "", account: EpisodeAccount = NO_ACCOUNT
    ) -> None:
        """End an episode; None: nobody can say how it went.

        Returns when the rules have drawn their lesson, so that another attempt begins with it, or after a short while.
        A language model reads the episode later. message: why it failed, as the planner sees it.

        Raises:
            NotFoundError: the episode is not known.
        """
        self.task_objects.end(episode_id)
        lesson = self.experience.end(episode_id, success, message, account)
        if lesson is not None:
            wait([lesson], _LESSON_S)

    def take_demonstrated(self, shown: DemonstratedStep) -> None:
        """Take over a step of a demonstration: the first one begins its episode; it ends as its last one went.

        What comes twice counts once. A step also counts where memory cannot take over its changes.

        Raises:
            RobotMemoryError: a change tells of what cannot be.
        """
        step, started_id = shown.step, self.start(shown.instruction, episode_id=shown.step.episode_id)
        if not self._is_running(started_id):
            return
        if shown.has_ended:
            self.end(started_id, step.success)
            return
        try:
            if shown.changes:
                self.remember(shown.changes)
        finally:
            self.record(step)

    def _with_hand(self, step: StepRecord) -> StepRecord:
        """Return the step with what the hand holds after it, as memory knows it; a value given by the caller wins."""
        held = held_object(self.scene)
        return step if step.held_object or held is None else replace(step, held_object=held.object_class)

    def _note_context(self, context_id: str, step: StepRecord) -> tuple[ConsistencyWarning, ...]:
        if not context_id:
            return ()
        lessons = self.told.note_step(context_id, step.episode_id, step.index)
        if lessons is None:
            detail = f"context {context_id!r} is not remembered, so nothing in it counts as given"
            return (ConsistencyWarning("a context that memory told", detail, "ask for the context again"),)
        self.experience.note_given(lessons, step.episode_id)
        return ()

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one."""
        return self.experience.may_retry(attempt)
