"""The whole memory behind one door: scene graph, short-term memory, experience and store, kept consistent."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from memory_node.context.sections import GUIDELINES, Context, MemoryExcerpt, assemble
from memory_node.context.whereabouts import held_class, room_at, room_relations
from memory_node.domain.answer import FindQuery, RankedArea, Recollection
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import Pose
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.experience.experience import Experience, ExperienceQuery
from memory_node.intake.change_grounding import ChangeGrounding
from memory_node.intake.episodes import Episodes
from memory_node.intake.new_pictures import NewPictures
from memory_node.intake.shared_learning import take_over_learning
from memory_node.intake.task_objects import TaskObjects
from memory_node.intake.units import unit_of
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.scene_graph.edits import SceneEdits
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID
from memory_node.search.recall import Recall
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.state_estimation import StateRequest
from memory_node.short_term.state_queue import StateEstimationQueue
from memory_node.short_term.statistics import CacheStatistics
from memory_node.store.errors import StoreBacklogError
from memory_node.store.forget_request import ForgetRequest
from memory_node.store.records import Recordable
from memory_node.store.store import Store
from memory_node.store.writer import Ticket
from memory_node.upkeep.durability import Durability

_GONE = (SceneEventKind.REMOVED, SceneEventKind.MERGED, SceneEventKind.FORGOTTEN)
_FOR_EVER_NS = 2**62
Listener = Callable[[tuple[SceneEvent, ...], int, int], None]


class RobotMemory:
    """A `MemoryPort` over its parts; thread-safe. What an answer tells has been made durable before it is told.

    Args:
        scene: the long-term scene graph.
        cache: the short-term memory.
        recall: ranks what the cache holds.
        store: makes it durable; None keeps everything in this process only (benchmarks, dry runs).
        experience: what was learnt from episodes.
        knowledge: propositions and prescriptions.
        clock: "now", on the same time line as the stamps of frames and changes.
        states: a vision-language model that judges object states from crops; None: skill effects alone.
    """

    def __init__(
        self,
        scene: SceneGraph,
        cache: ObjectCache,
        recall: Recall,
        store: Store | None,
        experience: Experience,
        knowledge: KnowledgeGraph,
        clock: Clock,
        states: StateEstimationQueue | None = None,
        make_id: IdSource = new_id,
    ) -> None:
        self.experience = experience
        self.knowledge = knowledge
        self._scene = scene
        self._cache = cache
        self._recall = recall
        self._store = store
        self._durability = Durability(store)
        self._clock = clock
        self._states = states
        self._refused_frames = 0
        self._room = ""  # where the camera was last
        self._lock = threading.RLock()
        self._new_pictures = NewPictures(scene.objects(), cache.config.use_interval_s)
        self._task_objects = TaskObjects(recall.classes_named, lambda classes: cache.pin(object_classes=classes))
        self.episodes = Episodes(experience, scene, self._lock, self.remember, self._task_objects)
        self._listeners: list[Listener] = []
        if len(scene):
            scene.doubt_frame()
        self._edits = SceneEdits(scene.state, scene.places)
        self._grounding = ChangeGrounding(scene.objects_of_class, self._exists, self._held, make_id)

    # --- what comes in ---------------------------------------------------------------------------

    def on_change(self, listener: Listener) -> None:
        """Call `listener(events, from_version, to_version)` after each change, in order."""
        self._listeners.append(listener)

    def observe(self, frame: Frame) -> tuple[SceneEvent, ...]:
        """Take in one frame; return what it changed in the scene graph."""
        frame = self._with_looks(frame)
        with self._lock:
            before, shifted = self._scene.version, self._scene.counters["map_shifted"]
            events = tuple(self._scene.observe(frame))
            self._room = room_at(self._scene, *frame.map_T_camera.position.tolist())
            if self._scene.counters["map_shifted"] != shifted:
                self._cache.clear()
                self._keep_map()
            for event in events:
                if event.kind in _GONE or event.object.last_seen_ns == frame.stamp_ns:
                    self._mirror(event)
            try:
                self._append(events, before)
            except StoreBacklogError:
                # A camera goes on: what the store has no room for now is seen again, and counted until then.
                self._refused_frames += 1
        return events

    def keyframes(self) -> dict[str, Pose]:
        """Return map_T_keyframe by name, of the keyframes that things were seen from."""
        with self._lock:
            return self._scene.keyframes()

    def correct_poses(self, corrected: Mapping[str, Pose]) -> tuple[SceneEvent, ...]:
        """Move what was seen from keyframes whose map_T_keyframe SLAM has corrected; ids stay."""
        with self._lock:
            before = self._scene.version
            events = tuple(self._scene.correct_poses(corrected))
            for event in events:
                if self._cache.get(event.object.id) is not None:
                    self._mirror(event)
            self._append(events, before)
        return events

    def hash(self) -> str:
        """Return a hash of everything that the scene graph believes: equal for equal replays."""
        with self._lock:
            return self._scene.hash()

    def set_map(self, grid: OccupancyMap, stamp_ns: int, robot: tuple[float, float] | None = None) -> None:
        """Lay out the areas and rooms of a new or grown map; robot: where it stands, (x, y) in map."""
        with self._lock:
            before = self._scene.version
            self._scene.set_map(grid.cells, grid.resolution_m, grid.map_T_origin, stamp_ns, robot)
            self._keep_map()
            self._tell((), before)

    def remember(self, changes: Sequence[StateChange]) -> None:
        """Take over what a skill or a person is known to have changed; returns once it is durable.

        Raises:
            StoreError: it could not be made durable; memory holds it all the same.
        """
        self.remember_objects(changes)

    def remember_objects(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Do as `remember`; return memory's id of each change's object, "" where nothing fitted."""
        with self._lock:
            before = self._scene.version
            grounded = tuple(self._grounding.ground(change) for change in changes)
            events: list[SceneEvent] = []
            object_ids: list[str] = []
            for change in grounded:
                changed = self._scene.apply_change(change)
                object_ids.append(change.object_id if changed else "")
                for event in changed:
                    if event.kind in _GONE or event.object.id != change.object_id:
                        self._mirror(event)
                events += changed
                self._cache.apply(change)
                if not change.destroyed and self._exists(change.object_id):
                    # A thing that a skill used is just used, whether or not the cache knew it.
                    self._cache.put(self._unit(self._scene.object(change.object_id), change.source))
            ticket = self._append(tuple(events), before)
        if ticket is not None:
            ticket.wait()
        return tuple(object_ids)

    def take_over_changes(self) -> int:
        """Take over what other robots, or another process, did to the shared long-term memory; return how much."""
        if self._store is None:
            return 0
        with self._lock:
            change = self._store.poll_changes()
            if change is None:
                return 0
            before = self._scene.version
            for found in change.objects:
                self._scene.add_object(found)
            gone = self._edits.forget([object_id for object_id in change.gone if self._exists(object_id)])
            self._scene.take_notice(gone)
            for object_id in change.gone:
                self._cache.forget(object_id)
            stamp_ns = self._clock()
            events = tuple(SceneEvent(SceneEventKind.UPDATED, stamp_ns, found) for found in change.objects)
            self._tell(events, before)
        learnt = take_over_learning(self._store, self.experience, self.knowledge, change)
        return len(change.objects) + len(change.gone) + learnt

    # --- what is asked ---------------------------------------------------------------------------

    def recall(self, query: FindQuery) -> Recollection:
        """Return what the short-term memory holds that fits; each call counts as one lookup."""
        recollection = self._recall.rank(query, self._clock(), frame_verified=self._scene.frame_verified)
        self._cache.count_lookup(recollection.best.object_id if recollection.best else "")
        self._durability.before_answer()
        return recollection

    def find(self, query: FindQuery) -> Recollection:
        """Return what the scene graph holds that fits."""
        with self._lock:
            recollection = self._scene.find(query, self._clock())
        self._durability.before_answer()
        return recollection

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Return where an object of the class is likely, best first."""
        with self._lock:
            return self._scene.rank_search_areas(object_class, k, self._clock())

    @property
    def version(self) -> int:
        """A number that grows with every change of the scene graph."""
        return self._scene.version

    def scene(self, as_of_ns: int = 0, removed: bool = False) -> SceneSnapshot:
        """Return the whole scene graph, now or as of a stamp; `removed`: with objects kept for their history."""
        with self._lock:
            snapshot = self._scene.snapshot(as_of_ns, removed)
        self._durability.before_answer()
        return snapshot

    def scene_text(self, token_budget: int, topic: str = "") -> str:
        """Return the scene graph in words, the areas most relevant to `topic` first."""
        with self._lock:
            return self._scene.text_form(token_budget, topic=topic)

    def context(self, instruction: str, token_budget: int = 2000) -> str:
        """Return what a language model should know of memory for this instruction."""
        return self.full_context(instruction, token_budget).text

    def full_context(self, instruction: str, token_budget: int = 2000, episode_id: str = "") -> Context:
        """Return the context with the tokens of its sections; the guidelines in it count as given to the episode."""
        now_ns = self._clock()
        recalled = self._recall.rank(FindQuery(text=instruction, k=8), now_ns)
        classes = tuple(dict.fromkeys(answer.object_class for answer in recalled.answers))
        learnt = self.experience.ask(ExperienceQuery(room=self._room, objects=classes, episode_id=episode_id))
        with self._lock:
            relations, held = room_relations(self._scene, learnt.room, classes), held_class(self._scene)
        if learnt.working_memory is not None:
            held = learnt.working_memory.held_object  # the steps know it first
        excerpt = MemoryExcerpt(
            learnt,
            facts=self.knowledge.about(classes),
            ways=self.knowledge.ways_to(instruction),
            room_relations=relations,
            recollection=recalled,
            # The graph's text orders its own areas; it gets what the other sections are not entitled to.
            home=self.scene_text(token_budget // 2, topic=instruction).splitlines(),
            robot=f"Robot: in {learnt.room or 'an unknown room'}, holding {held or 'nothing'}.",
            now_ns=now_ns,
        )
        context = assemble(excerpt.sections(), token_budget)
        # What the budget cut off was not given.
        self.experience.note_given(learnt.guidelines[: context.section_lines.get(GUIDELINES, 0)], episode_id)
        return context

    @property
    def cache(self) -> ObjectCache:
        """The short-term memory."""
        return self._cache

    def statistics(self) -> CacheStatistics:
        """Return how the short-term memory is doing."""
        return self._cache.statistics()

    def diagnostics(self) -> dict[str, object]:
        """Return figures for /diagnostics."""
        with self._lock:
            figures: dict[str, object] = {"objects": len(self._scene), "version": self._scene.version}
            figures.update({f"skipped.{reason}": n for reason, n in Counter(self._scene.counters).items()})
        figures.update(self.experience.figures())
        figures.update({f"short_term.{name}": value for name, value in self.statistics().figures().items()})
        if self._states is not None:
            figures.update({f"states.{name}": count for name, count in asdict(self._states.counts).items()})
        if self._store is not None:
            store = self._store.diagnostics()
            figures.update({"store": store.state, "store.pending": store.pending, "store.outages": store.outages})
            figures["store.refused_frames"] = self._refused_frames
            figures.update({"store.commit_p50_ms": store.commit_p50_ms, "store.journal": store.journal_batches})
        return figures

    # --- looking after it ------------------------------------------------------------------------

    def edit(
        self,
        operation: str,
        object_id: str,
        other_id: str = "",
        new_class: str = "",
        position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> str:
        """Correct memory by hand (srv/EditObject); return the id of the object that carries on, or of the new one.

        Raises:
            InvalidValueError: no such operation, or it lacks something.
            NotFoundError: an id that nothing carries.
            StoreError: it could not be made durable.
        """
        operations: dict[str, Callable[[], list[SceneEvent]]] = {
            "relabel": lambda: self._edits.relabel(object_id, new_class),
            "merge": lambda: self._edits.merge(object_id, other_id),
            "split": lambda: self._edits.split(object_id, position),
            "delete": lambda: self._edits.delete(object_id),
            "name_room": lambda: self._name_room(object_id, new_class),
        }
        if operation not in operations:
            raise InvalidValueError(f"edit: expected one of {', '.join(operations)}, got {operation!r}")
        with self._lock:
            before = self._scene.version
            events = tuple(operations[operation]())
            self._scene.take_notice(events)
            for event in events:
                self._mirror(event)
            ticket = self._append(events, before)
        if ticket is not None:
            ticket.wait()
        return events[0].object.id if operation == "split" else object_id

    def forget(
        self, object_id: str = "", area_id: str = "", object_class: str = "", begin_ns: int = 0, end_ns: int = 0
    ) -> int:
        """Erase objects that all given conditions fit, history included, on disk too; return how many.

        A time span alone also erases what happened in it: episodes, steps, states, and where other things were then.
        What was learnt from episodes that go is withdrawn.

        Raises:
            InvalidValueError: no condition is given.
            StoreError: they could not be erased on disk.
        """
        with self._lock:
            before = self._scene.version
            ids = self._edits.select(object_id, area_id, object_class, begin_ns, end_ns)
            events = tuple(self._edits.forget(ids))
            self._scene.take_notice(events)
            for event in events:
                self._mirror(event)
            self._tell(events, before)
        if self._store is not None:
            span = ForgetRequest(from_ns=begin_ns, until_ns=end_ns or _FOR_EVER_NS) if begin_ns or end_ns else None
            if span is not None and not (object_id or area_id or object_class):
                self._forget_durably(self._store, span)
            elif ids:
                self._forget_durably(self._store, ForgetRequest(object_ids=tuple(ids)))
        return len(ids)

    def confirm_relocalization(self, new_T_old: Pose | None = None) -> None:
        """Trust the map frame again; `new_T_old`: pose of the old map in the new one, if its origin has moved.

        Raises:
            StoreError: the moved graph could not be made durable.
        """
        with self._lock:
            before = self._scene.version
            events = tuple(self._scene.confirm_frame(new_T_old))
            if new_T_old is not None:
                self._cache.clear()
                self._keep_map()
            ticket = self._append(events, before)
        if ticket is not None:
            ticket.wait()

    def commit(self) -> None:
        """Return once all that memory was told, episodes included, is durable; see Durability.commit."""
        self._durability.commit()

    def save(self, backup_path: str = "") -> int:
        """Make everything durable and write a backup if a path is given; return how many objects there are.

        Raises:
            InvalidValueError: the path leads out of the store's data folder.
            StoreError: it could not be done.
        """
        with self._lock:
            self._keep_map()
            count = len(self._scene)
        if self._store is not None:
            self._store.flush()
            if backup_path:
                self._store.backup(_confined(self._store.images.root.parent, backup_path))
        return count

    def close(self) -> None:
        """Finish what is being learnt, make everything durable, and let go of the store; again does nothing."""
        self.experience.close()
        if self._states is not None:
            self._states.close()
        self._cache.save_snapshot(self._clock())
        if self._store is not None and not self._store.closed:
            self._store.close()

    # --- inside ----------------------------------------------------------------------------------

    def _with_looks(self, frame: Frame) -> Frame:
        """Return the frame with an embedding of each observation's picture, where something embeds pictures."""
        if not self._recall.embeds_pictures:
            return frame
        observations = tuple(
            seen if seen.embedding is not None else replace(seen, embedding=self._recall.looks_of(seen.crop_jpeg))
            for seen in frame.observations
        )
        return replace(frame, observations=observations)

    def _forget_durably(self, store: Store, request: ForgetRequest) -> None:
        """Erase on disk, and withdraw what was learnt from the episodes that go with it."""
        store.flush()
        for episode_id in store.episodes_of(request):
            self.experience.forget(episode_id)
            self.knowledge.forget(episode_id)
        with contextlib.suppress(NotFoundError):  # what only the scene graph knew
            store.forget(request)

    def _name_room(self, room_id: str, name: str) -> list[SceneEvent]:
        self._edits.name_room(room_id, name)
        self._keep_map()
        return []

    def _append(self, events: tuple[SceneEvent, ...], before: int) -> Ticket | None:
        facts: list[Recordable] = [*events, *self._scene.take_renamed_rooms()]
        ticket = self._store.append(facts) if self._store is not None and facts else None
        self._tell(events, before)
        return ticket

    def _tell(self, events: tuple[SceneEvent, ...], before: int) -> None:
        for listener in self._listeners:
            listener(events, before, self._scene.version)

    def _keep_map(self) -> None:
        if self._store is not None:
            s = self._scene.snapshot()
            self._store.put_map(s.areas, s.rooms, s.floors, s.relations)

    def _mirror(self, event: SceneEvent) -> None:
        """Let the short-term memory follow a change of the scene graph."""
        found = event.object
        if event.kind in _GONE:
            self._cache.forget(found.id)
            self._new_pictures.forget(found.id)
            return
        held, is_new = self._cache.get(found.id), self._new_pictures.take(found)
        crop = found.crop_jpeg if is_new or held is None or not held.image_path else b""
        self._cache.put(replace(self._unit(found), looks=self._recall.looks_of(crop)), crop)
        if is_new and self._states is not None:
            task, objects = self.episodes.task, self._task_objects.classes
            self._states.submit(StateRequest(found.id, found.class_name, crop, found.last_seen_ns, task, objects))

    def _unit(self, found: SceneObject, source: str = "") -> MemoryUnit:
        places = self._scene.places
        area = places.areas.get(found.area_id)
        room = places.rooms.get(area.room_id) if area is not None else None
        return unit_of(found, room.name if room is not None else "", source)

    def _exists(self, object_id: str) -> bool:
        if not object_id:
            return False
        try:
            return not self._scene.object(object_id).removed
        except NotFoundError:
            return False

    def _held(self) -> frozenset[str]:
        return frozenset(self._scene.state.contents.get(ROBOT_ID, ()))


def _confined(folder: Path, relative: str) -> Path:
    """Return the path of a file in `folder`; a service must not be able to write anywhere else."""
    path = (folder / relative).resolve()
    if Path(relative).is_absolute() or not path.is_relative_to(folder.resolve()):
        raise InvalidValueError(f"backup path {relative!r}: expected a path inside the memory's data folder {folder}")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
