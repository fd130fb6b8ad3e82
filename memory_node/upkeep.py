"""Looking after memory: corrections, forgetting, relocalisation, figures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import asdict, dataclass

from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import Pose
from memory_node.domain.scene import SceneEvent
from memory_node.episodes.deed_log import DeedLog
from memory_node.intake.graph_changes import GraphChanges
from memory_node.intake.short_term_mirror import ShortTermMirror
from memory_node.knowledge.kept_vectors import KeptVectors
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.lessons.experience import Experience
from memory_node.scene_graph.edits import SceneEdits, UndoBook
from memory_node.scene_graph.graph import SceneGraph
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.state_estimation import StateEstimationQueue
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.store import Store

_FOR_EVER_NS = 2**62


@dataclass(eq=False)
class Upkeep:
    """Thread-safe.

    changes, mirror: where each change of the graph goes. store: None for a memory of this process only.
    """

    scene: SceneGraph
    changes: GraphChanges
    mirror: ShortTermMirror
    cache: ObjectCache
    store: Store | None
    experience: Experience
    knowledge: KnowledgeGraph
    clock: Clock
    states: StateEstimationQueue | None
    undo: UndoBook
    kept: KeptVectors | None = None
    deeds: DeedLog | None = None

    def __post_init__(self) -> None:
        self._edits = SceneEdits(self.scene.state, self.scene.places)

    def edit(
        self,
        operation: str,
        object_id: str,
        other_id: str = "",
        new_class: str = "",
        position: tuple[float, float, float] = (0.0, 0.0, 0.0),
        edit_id: str = "",
    ) -> str:
        """Correct memory by hand (srv/EditObject); return the id of the object that carries on, or of the new one.

        edit_id: under which the edit can be undone; the operation "undo" takes it as object_id.

        Raises:
            InvalidValueError: no such operation, or it lacks something.
            NotFoundError: an id that nothing carries.
            StoreError: it could not be made durable.
        """
        operations: dict[str, Callable[[], list[SceneEvent]]] = {
            "relabel": lambda: self._edits.relabel(object_id, new_class),
            "call": lambda: self._edits.call(object_id, new_class),
            "merge": lambda: self._edits.merge(object_id, other_id),
            "split": lambda: self._edits.split(object_id, position),
            "delete": lambda: self._edits.delete(object_id),
            "restore": lambda: self._edits.restore(object_id),
            "name_room": lambda: self._name_room(object_id, new_class),
            "undo": lambda: self._take_back(object_id),
        }
        if operation not in operations:
            raise InvalidValueError(f"operation: expected one of {', '.join(operations)}, got {operation!r}")
        with self.changes.begin() as change, self.undo.recorded(edit_id):
            change.events += operations[operation]()
            self._take_notice(change.events)
        change.wait()
        return change.events[0].object.id if operation == "split" else object_id

    def forget(
        self, object_id: str = "", area_id: str = "", object_class: str = "", begin_ns: int = 0, end_ns: int = 0
    ) -> int:
        """Erase objects that all given conditions fit, history included, on disk too; return how many.

        A time span alone also erases what happened in it: episodes, steps, states, and where other things were then.
        Lessons of forgotten episodes are withdrawn.

        Raises:
            InvalidValueError: no condition is given.
            StoreError: they could not be erased on disk.
        """
        with self.changes.begin(durable=False) as change:
            ids = self._edits.select(object_id, area_id, object_class, begin_ns, end_ns)
            change.events += self._edits.forget(ids)
            self._take_notice(change.events)
        if self.store is not None:
            span = ForgetRequest(from_ns=begin_ns, until_ns=end_ns or _FOR_EVER_NS) if begin_ns or end_ns else None
            if span is not None and not (object_id or area_id or object_class):
                self._forget_durably(self.store, span)
            elif ids:
                self._forget_durably(self.store, ForgetRequest(object_ids=tuple(ids)))
        return len(ids)

    def confirm_relocalization(self, new_T_old: Pose | None = None) -> None:
        """Trust the map frame again; `new_T_old`: pose of the old map in the new one, if its origin has moved.

        Raises:
            StoreError: the moved graph could not be made durable.
        """
        with self.changes.begin() as change:
            change.events += self.scene.confirm_frame(new_T_old)
            if new_T_old is not None:
                self.mirror.cache.clear()
                self.changes.keep_map()
        change.wait()

    def save(self, backup_path: str = "") -> int:
        """Make everything durable and write a backup if a path is given; return how many objects there are.

        Raises:
            InvalidValueError: the path is no plain file name (see store/backup.py).
            StoreError: it could not be done.
        """
        self.changes.keep_map()
        if self.store is not None:
            self.store.flush()
            if backup_path:
                self.store.backup(self.store.backup_file(backup_path))
        return len(self.scene)

    def close(self) -> None:
        """Finish what is being learnt, make everything durable, and let go of the store; again does nothing."""
        self.experience.close()
        self.knowledge.close()
        if self.states is not None:
            self.states.close()
        if self.store is not None and not self.store.closed:
            self.keep_knowledge()
            self.changes.keep_map()  # with when each area was looked at last
            self.store.close()

    def keep_knowledge(self) -> None:
        """Write the file from which the next start reads knowledge."""
        if self.kept is not None:
            self.kept.save(self.knowledge)

    def diagnostics(self) -> dict[str, object]:
        """Return figures for /diagnostics."""
        with self.changes.lock:
            figures: dict[str, object] = {"objects": len(self.scene), "version": self.scene.version}
            figures["frame_verified"] = self.scene.frame_verified
            figures.update({f"skipped.{reason}": n for reason, n in self.scene.counters.items()})
        figures.update(self.experience.figures())
        figures.update({f"short_term.{name}": value for name, value in self.cache.statistics().figures().items()})
        if self.states is not None:
            figures.update({f"states.{name}": count for name, count in asdict(self.states.counts).items()})
        if self.store is not None:
            store = self.store.diagnostics()
            figures.update({"store": store.state, "store.pending": store.pending, "store.outages": store.outages})
            figures["store.bad_rows"] = self.store.bad_rows
            figures.update({"store.log_bytes": self.store.log_bytes, "store.warning": self.store.warning})
            figures.update({"store.commit_p50_ms": store.commit_p50_ms, "store.journal": store.journal_batches})
        return figures

    def _take_notice(self, events: list[SceneEvent]) -> None:
        self.scene.take_notice(events)
        for event in events:
            self.mirror.follow(event)

    def _forget_durably(self, store: Store, request: ForgetRequest) -> None:
        """Erase on disk, and withdraw what was learnt from the episodes that go with it."""
        store.flush()
        for episode_id in store.episodes_of(request):
            self.experience.forget(episode_id)
            self.knowledge.forget(episode_id)
            if self.deeds is not None:
                self.deeds.drop(lambda deed: deed.episode_id == episode_id)  # noqa: B023 - called at once
        if self.deeds is not None:
            self.deeds.drop(lambda deed: bool({deed.object_id, deed.from_id, deed.to_id} & set(request.object_ids)))
        with contextlib.suppress(NotFoundError):  # what only the scene graph knew
            store.forget(request)

    def _take_back(self, edit_id: str) -> list[SceneEvent]:
        events = self.undo.take_back(edit_id)
        self.mirror.refresh_places()
        self.changes.keep_map()
        return events

    def _name_room(self, room_id: str, name: str) -> list[SceneEvent]:
        self._edits.name_room(room_id, name)
        self.mirror.refresh_places()
        self.changes.keep_map()
        return []
