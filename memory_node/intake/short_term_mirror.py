"""The short-term memory follows the scene graph: what is seen or used there is a unit here, under the same id."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.step import Deed
from memory_node.perception.crop import picture_jpeg
from memory_node.scene_graph.graph import SceneGraph
from memory_node.search.ranker import Ranker
from memory_node.short_term.object_cache import USED_STAYS_NS, ObjectCache
from memory_node.short_term.state_estimation import PicturedThing, StateEstimationQueue, StateRequest


class TaskObjects:
    """Follows episodes from outside: what their instructions name, and what their next action touches. Thread-safe.

    named: returns the classes that an instruction speaks of. pin: is told all classes whenever they change. task: the
    instruction of the episode that began last.
    """

    def __init__(
        self, named: Callable[[str], Iterable[str]], pin: Callable[[Sequence[str]], object], most_episodes: int = 8
    ) -> None:
        self._named = named
        self._pin = pin
        self._most_episodes = most_episodes
        self._lock = threading.Lock()
        self._of_instruction: dict[str, frozenset[str]] = {}
        self._of_action: dict[str, frozenset[str]] = {}
        self._classes: tuple[str, ...] = ()
        self.task = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the running episodes are about."""
        return self._classes

    def start(self, episode_id: str, instruction: str) -> None:
        """Begin with what the instruction names."""
        named = frozenset(self._named(instruction))
        with self._lock:
            self.task = instruction
            self._of_instruction[episode_id] = named
            while len(self._of_instruction) > self._most_episodes:
                # Its planner went away without a word.
                self._leave(next(iter(self._of_instruction)))
            self._changed()

    def touch(self, episode_id: str, classes: Iterable[str]) -> None:
        """Take the classes of the next action, in place of the last one's."""
        with self._lock:
            if episode_id in self._of_instruction:
                self._of_action[episode_id] = frozenset(classes)
                self._changed()

    def end(self, episode_id: str) -> None:
        """Release an episode's objects."""
        with self._lock:
            self._leave(episode_id)
            self._changed()

    def _leave(self, episode_id: str) -> None:
        self._of_instruction.pop(episode_id, None)
        self._of_action.pop(episode_id, None)

    def _changed(self) -> None:
        classes = tuple(sorted(frozenset().union(*self._of_instruction.values(), *self._of_action.values())))
        if classes != self._classes:
            self._classes = classes
            self._pin(classes)


FRAME_MAX_PX = 1024
CROP_MAX_PX = 512
# Share of a thing's width and height that is shown around it: what it touches tells of its state.
_MARGIN = 0.15
_QUALITY = 85
_MOST_THINGS = 6


def state_requests(
    things: Sequence[SceneObject], frame: Frame, task: str, task_objects: tuple[str, ...]
) -> Iterator[StateRequest]:
    """Yield requests for things that a frame gave new pictures of, several things in each. Pictures are coded when they
    are sent; without the frame's image the small ones that memory keeps are."""
    seen = {id(jpeg): one.at_pixels for one in frame.observations if (jpeg := one.crop())}
    for start in range(0, len(things), _MOST_THINGS):
        pictured = []
        for thing in things[start : start + _MOST_THINGS]:
            place = seen.get(id(thing.crop_jpeg))
            crop = partial(bytes, thing.crop_jpeg)
            if frame.color is not None and place is not None:
                crop = partial(_crop, frame.color, place)
            pictured.append(PicturedThing(thing.id, thing.class_name, crop))
        whole = partial(picture_jpeg, frame.color, FRAME_MAX_PX, _QUALITY) if frame.color is not None else None
        yield StateRequest(tuple(pictured), frame.stamp_ns, whole, task, task_objects)


def _crop(color: NDArray[np.uint8], place: tuple[int, int, int, int]) -> bytes:
    left, right, top, bottom = place
    across, down = round(_MARGIN * (right - left + 1)), round(_MARGIN * (bottom - top + 1))
    piece = color[max(0, top - down) : bottom + down + 1, max(0, left - across) : right + across + 1]
    return picture_jpeg(piece, CROP_MAX_PX, _QUALITY)


class NewPictures:
    """Knows each object's picture that was taken note of, and when.

    An old picture says nothing about the state that an object is in now, so those of `known` objects are not new.
    interval_s: a robot that comes nearer takes a better picture in every frame; one in this time is enough.
    """

    def __init__(self, known: Iterable[SceneObject], interval_s: float) -> None:
        self._interval_ns = int(interval_s * 1e9)
        self._seen = {found.id: (found.crop_jpeg, found.last_seen_ns) for found in known if found.crop_jpeg}

    def take(self, found: SceneObject) -> bool:
        """Return whether the object has a picture that is new, and take note of it."""
        crop, stamp_ns = self._seen.get(found.id, (b"", -self._interval_ns))
        if not found.crop_jpeg or found.crop_jpeg is crop or found.crop_jpeg == crop:
            return False
        if found.last_seen_ns - stamp_ns < self._interval_ns:
            return False
        self._seen[found.id] = (found.crop_jpeg, found.last_seen_ns)
        return True

    def forget(self, object_id: str) -> None:
        """Take no more note of an object."""
        self._seen.pop(object_id, None)


GONE = (SceneEventKind.REMOVED, SceneEventKind.MERGED, SceneEventKind.FORGOTTEN)


class ShortTermMirror:
    """Not thread-safe: who calls it holds the graph's lock.

    ranker: embeds pictures. states: a vision-language model that judges object states from new pictures; None: skill
    effects alone.
    """

    def __init__(
        self,
        scene: SceneGraph,
        cache: ObjectCache,
        ranker: Ranker,
        task_objects: TaskObjects,
        states: StateEstimationQueue | None = None,
    ) -> None:
        self._scene = scene
        self.cache = cache
        self._ranker = ranker
        self._task_objects = task_objects
        self._states = states
        self._new_pictures = NewPictures(scene.objects(), cache.config.use_interval_s)
        self._to_judge: list[SceneObject] = []

    def with_looks(self, frame: Frame) -> Frame:
        """Return the frame with an embedding of each observation's picture, where something embeds pictures."""
        if not self._ranker.picture_dimension:
            return frame
        observations = tuple(
            seen if seen.embedding is not None else replace(seen, embedding=self._ranker.looks_of(seen.crop()))
            for seen in frame.observations
        )
        return replace(frame, observations=observations)

    def follow(self, event: SceneEvent) -> None:
        """Take over an event of the graph, with the object's picture if that is new."""
        found = event.object
        if event.kind in GONE:
            self.cache.forget(found.id)
            self._new_pictures.forget(found.id)
            return
        held, is_new = self.cache.get(found.id), self._new_pictures.take(found)
        crop = found.crop_jpeg if is_new or held is None or not held.image_path else b""
        self.cache.put(replace(self._unit(found), looks=self._ranker.looks_of(crop)), crop)
        if is_new and self._states is not None:
            self._to_judge.append(found)

    def judge_states(self, frame: Frame) -> None:
        """Let the model that sees judge the states of what a frame gave new pictures of."""
        if self._states is None:
            return
        things, self._to_judge = self._to_judge, []
        task, objects = self._task_objects.task, self._task_objects.classes
        for request in state_requests(things, frame, task, objects):
            self._states.submit(request)

    def use(self, change: StateChange) -> None:
        """Take over what a skill did to an object, which counts as used, whether or not the cache knew it."""
        self.cache.apply(change)
        found = self._scene.find(change.object_id)
        if found is not None and not found.removed:
            self.cache.put(self._unit(found, change.source))

    def take_back(self, deeds: Iterable[Deed], now_ns: int) -> None:
        """Hold again what the robot used so lately that it stays, as the graph has it now. deeds: the newest last."""
        since_ns = now_ns - USED_STAYS_NS
        used = {one.object_id: one.stamp_ns for one in deeds if one.stamp_ns >= since_ns and not one.reason}
        for object_id, used_ns in used.items():
            found = self._scene.find(object_id)
            if found is not None and not found.removed:
                self.cache.put(replace(self._unit(found), used_ns=used_ns))

    def refresh(self, object_ids: Iterable[str]) -> None:
        """Take over what the graph believes now of those objects among these that the cache holds."""
        for object_id in object_ids:
            if object_id in self.cache:
                self.cache.put(self._unit(self._scene.object(object_id)))

    def refresh_places(self) -> None:
        """Take over areas that were laid out anew and rooms that got another name."""
        for unit in self.cache.units():
            area_id = self._scene.area_of(unit.object_id)
            if area_id and (area_id, self._scene.room_name(area_id)) != (unit.area_id, unit.room_name):
                self.cache.put(replace(unit, area_id=area_id, room_name=self._scene.room_name(area_id)))

    def _unit(self, found: SceneObject, source: str = "") -> MemoryUnit:
        support_class = self._scene.class_of(found.support_id)
        return MemoryUnit.of_object(found, self._scene.room_name(found.area_id), support_class, source)
