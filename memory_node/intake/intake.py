"""What comes into memory: frames, corrected poses, maps, reported changes, and what other robots did and learnt."""

from __future__ import annotations

import logging
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.ids import new_id
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.skill import ObjectReference, StateChange
from memory_node.episodes.past_attempt import ATTEMPTS
from memory_node.intake.graph_changes import GraphChanges
from memory_node.intake.short_term_mirror import GONE, ShortTermMirror
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_nodes import PROPOSITIONS, STEPS
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import LESSONS
from memory_node.scene_graph.edits import SceneEdits, UndoBook
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.graph_readings import GraphReadings
from memory_node.scene_graph.resolve import NamedThings
from memory_node.short_term.units import StateClaim
from memory_node.store.apply import tombstone_of
from memory_node.store.errors import StoreBacklogError
from memory_node.store.records import StoreChange
from memory_node.store.store import Store

# A thing of the right class this close to where the executor says it is, is that thing.
SAME_PLACE_M = 0.75
# Remembered places are right to so much (m).
OFF_PLACE_M = 0.05
# What was in view so shortly before a change may be in view still.
_LATELY_NS = 2 * 10**9
# Ids of executors that are known at most; the one that was named longest ago is forgotten first.
KNOWN_IDS = 10_000


@dataclass(eq=False)
class ChangeGrounding:
    """Translates changes from an executor's references to memory's ids; remembers the last ids that it has resolved.

    make_id: makes the id of an object that memory has not seen yet.
    """

    scene: GraphReadings
    make_id: Callable[[], str] = new_id

    def __post_init__(self) -> None:
        self._known: OrderedDict[str, str] = OrderedDict()

    def ground(self, change: StateChange) -> StateChange:
        """Return the change in memory's ids; an object that fits nothing gets a new id, to be entered with it."""
        object_id = self._resolve(change)
        # The position of an effect is no new position of the thing, unless it was put there, or slid open or shut.
        moved = change.held is False or bool(change.support_id) or not self._exists(object_id)
        moved = moved or change.door is not None
        return replace(
            change,
            object_id=object_id,
            support_id=self._reference(change.support_id),
            created_from=self._known.get(change.created_from, change.created_from),
            position=change.position if moved else None,
        )

    def _resolve(self, change: StateChange) -> str:
        executor_id = change.object_id
        if executor_id and self._exists(executor_id):
            return executor_id
        known = self._known.get(executor_id, "")
        if self._exists(known) and not self._is_another(known, change):
            self._known.move_to_end(executor_id)
            return known
        # An executor's own "mug 1" need not be memory's Mug 1: where it tells class and place, these decide.
        named = "" if change.object_class and change.position is not None else self.scene.present_id(executor_id)
        if named:
            return named
        # A thing just cut off another one cannot be one that was seen before.
        found = "" if change.created_from else self._nearest(change.object_class, change.position, change)
        object_id = found or self.make_id()
        if executor_id:
            if known:  # of what it stood for until now
                self._known = OrderedDict((key, one) for key, one in self._known.items() if one != object_id)
            self._known[executor_id] = object_id
            self._known.move_to_end(executor_id)
            if len(self._known) > KNOWN_IDS:
                self._known.popitem(last=False)
        return object_id

    def _is_another(self, known: str, change: StateChange) -> bool:
        """Return whether a change is of another thing than the one that its id stood for: memory has come to know one
        of the class much nearer to where the executor has it. What is carried stays the same, wherever it is, and so
        does what was put somewhere: like things may lie there."""
        if change.position is None or change.held is False or change.support_id:
            return False
        rows, distances = self.scene.distances(change.object_class, change.position, change.door)
        if not rows.size or self.scene.id_of(int(rows[distances.argmin()])) == known:
            return False
        of_known = np.array([self.scene.id_of(row) == known for row in rows.tolist()], dtype=bool)
        if not of_known.any() or np.isin(rows[of_known], self.scene.rows_carried()).any():
            return False
        off_m = float(distances[of_known].min())
        return off_m > OFF_PLACE_M and float(distances.min()) < 0.5 * off_m

    def _nearest(
        self, object_class: str, position: tuple[float, float, float] | None, change: StateChange | None = None
    ) -> str:
        """Return the id of the nearest of a class, "" for none. change: what is reported of it."""
        door = change.door if change is not None else None
        rows, distances = self.scene.distances(object_class, position or (0.0, 0.0, 0.0), door)
        held = ""
        if change is not None and not change.held:
            # What the hand holds is known by that; its remembered place is where it was taken from.
            held = next((self.scene.id_of(row) for row in self.scene.rows_carried().tolist() if row in rows), "")
            if held and (change.held is False or position is None):
                return held
            # What the executor has named otherwise is not this one; what was in the hand before memory began may be.
            held = held if held not in self._known.values() else ""
        if position is None or not rows.size:
            return self.scene.id_of(int(rows[0])) if rows.size == 1 else ""
        nearest = distances.min()
        if nearest > SAME_PLACE_M:
            return held
        nearest_rows = rows[distances == nearest].tolist()
        if change is not None and change.held is None and door is None:
            # What was seen where it is known to be is not what the robot changed at another place.
            seen = self.scene.is_seen_elsewhere
            nearest_rows = [row for row in nearest_rows if not seen(row, float(nearest), change.stamp_ns - _LATELY_NS)]
        # Of equally near ones the lowest id: a replay decides the same.
        return min((self.scene.id_of(row) for row in nearest_rows), default=held)

    def _reference(self, text: str) -> str:
        if not text or self._exists(text):
            return text
        if text in self._known:
            return self._known[text]
        named = self.scene.present_id(text)
        if named:
            return named
        reference = ObjectReference.parse(text)
        return self._nearest(reference.object_class, reference.position)

    def _exists(self, object_id: str) -> bool:
        """Return whether memory has an object of this id."""
        return bool(object_id) and self.scene.present_id(object_id) == object_id


_log = logging.getLogger(__name__)


def take_over_learning(store: Store, change: StoreChange, experience: Experience, knowledge: KnowledgeGraph) -> int:
    """Take over ended episodes and learnt things of others, and give up what was forgotten; return how many came.

    A lesson that two robots taught stands as it was written last.
    """
    if change.forgotten:

        def is_forgotten(kind: str, record_id: str) -> bool:
            return tombstone_of(kind, record_id) in change.forgotten

        knowledge.drop_forgotten(is_forgotten, experience.drop_forgotten(is_forgotten))
    bodies: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    gone: defaultdict[str, list[str]] = defaultdict(list)
    for document in change.documents:
        if document.removed:
            gone[document.kind].append(document.id)
        else:
            bodies[document.kind].append(document.body)
    told = [e.id for e in change.episodes if e.robot_id != store.robot_id and e.ended_ns and e.success is not None]
    # Steps that another robot has changed by forgetting.
    told += [i for i in dict.fromkeys(step.episode_id for step in change.steps) if experience.knows(i)]
    try:
        episodes = [(episode_id, store.steps(episode_id)) for episode_id in dict.fromkeys(told)]
        experience.take_over(bodies[ATTEMPTS], bodies[LESSONS], episodes, gone[LESSONS])
        knowledge.load(map(dict, bodies[PROPOSITIONS]), map(dict, bodies[STEPS]))
        knowledge.give_up({kind: set(gone[kind]) for kind in (PROPOSITIONS, STEPS)})
        knowledge.embed_statements()
    except RobotMemoryError as error:
        # A document of another program version must not block the others.
        _log.error("what others have learnt cannot be taken over: %s", error)
        return 0
    return len(episodes) + sum(map(len, bodies.values()))


# What stands on a thing moves with it: a call on a stack of a thousand things would move half a million.
MOST_CARRIED = 2_000


@dataclass(eq=False)
class Intake:
    """Thread-safe.

    changes, mirror: where each change of the graph goes. store: of which other robots' changes are taken over, or None.
    learn: takes over what else others have put into the store; returns how much.
    """

    scene: SceneGraph
    changes: GraphChanges
    mirror: ShortTermMirror
    store: Store | None
    learn: Callable[[Store, StoreChange], int]
    clock: Clock
    undo: UndoBook

    def __post_init__(self) -> None:
        self._grounding = ChangeGrounding(self.scene)
        self._named = NamedThings(self.scene.state)
        self.refused_frames = 0

    def observe(self, frame: Frame) -> tuple[SceneEvent, ...]:
        """Take in one frame; return what it changed in the scene graph."""
        frame = self.mirror.with_looks(frame)
        try:
            with self.changes.begin() as change:
                shifted = self.scene.counters["map_shifted"]
                change.events += self.scene.observe(frame)
                if self.scene.counters["map_shifted"] != shifted:
                    self.mirror.cache.clear()  # places in the old map mean nothing in the new one
                    self.changes.keep_map()
                for event in change.events:
                    if event.kind in GONE or event.object.last_seen_ns == frame.stamp_ns:
                        self.mirror.follow(event)
                self.mirror.refresh(self.scene.missed_at(frame.stamp_ns))
                self.mirror.judge_states(frame)
        except StoreBacklogError:
            # A camera goes on: what the store has no room for now is seen again, and counted until then.
            self.refused_frames += 1
        return tuple(change.events)

    def correct_poses(self, corrected: Mapping[str, Pose]) -> tuple[SceneEvent, ...]:
        """Move what was seen from keyframes whose map_T_keyframe SLAM has corrected; ids stay."""
        with self.changes.begin() as change:
            change.events += self.scene.correct_poses(corrected)
            for event in change.events:
                if event.object.id in self.mirror.cache:
                    self.mirror.follow(event)
        return tuple(change.events)

    def set_map(self, grid: OccupancyMap, stamp_ns: int, robot: tuple[float, float] | None = None) -> None:
        """Lay out the areas and rooms of a new or grown map; robot: where it stands, (x, y) in map."""
        with self.changes.begin(durable=False):
            self.scene.set_map(grid.cells, grid.resolution_m, grid.map_T_origin, stamp_ns, robot)
            self.mirror.refresh_places()
            self.changes.keep_map()

    def remember(self, changes: Sequence[StateChange], edit_id: str = "") -> tuple[str, ...]:
        """Take over what a skill or a person is known to have changed, durably; a zero stamp means now.

        Returns memory's id of each change's object, "" where nothing fitted. A change whose source is "user" names what
        memory knows, see `NamedThings`. edit_id: under which it can be undone.

        Raises:
            NotFoundError: a person names what memory does not know; nothing has changed.
            InvalidValueError: too much is carried along with what was moved; what came before is remembered.
            StoreError: it could not be made durable; memory holds it all the same.
        """
        now_ns = self.clock()
        stamped = [one if one.stamp_ns else replace(one, stamp_ns=now_ns) for one in changes]
        object_ids: list[str] = []
        with self.changes.begin() as change, self.undo.recorded(edit_id):
            # An executor's names mean the graph as it was before the skill: all are resolved before any is applied.
            for grounded in tuple(self._ground(one) for one in stamped):
                if len(change.events) - len(object_ids) > MOST_CARRIED:
                    break
                events = self.scene.apply_change(grounded)
                object_ids.append(grounded.object_id if events else "")
                for event in events:
                    if event.kind in GONE or event.object.id != grounded.object_id:
                        self.mirror.follow(event)
                self.mirror.use(grounded)
                change.events += events
        change.wait()
        if len(object_ids) < len(changes):
            raise InvalidValueError(
                f"changes[{len(object_ids)}]: expected a call that carries at most {MOST_CARRIED} things along with "
                "what it moves; the changes before this one are remembered, send the others again"
            )
        return tuple(object_ids)

    def _ground(self, change: StateChange) -> StateChange:
        if change.source != "user":
            return self._grounding.ground(change)
        settled = self._named.settle(change)
        return settled if settled.object_id else self._grounding.ground(settled)

    def claim_states(self, object_id: str, claims: Sequence[StateClaim]) -> None:
        """Weigh what a source says of an object's states against what is believed; graph and short-term memory follow.

        What is forgotten or gone meanwhile stays so.
        """
        with self.changes.begin() as change:
            if not claims or not self.scene.is_present(object_id):
                return
            believed = self.scene.object(object_id).states
            states = self.mirror.cache.claim_states(object_id, believed, claims, self.clock())
            if states != believed:
                stamp_ns = max(claim.stamp_ns for claim in claims)
                change.events.append(self.scene.believe_states(object_id, states, stamp_ns))

    def take_over_changes(self) -> int:
        """Take over what other robots, or another process, did to the shared long-term memory; return how much."""
        if self.store is None:
            return 0
        with self.changes.begin(durable=False) as change:
            theirs = self.store.poll_changes()
            if theirs is None:
                return 0
            for found in theirs.objects:
                self.scene.add_object(found)
            edits = SceneEdits(self.scene.state, self.scene.places)
            gone = edits.forget([object_id for object_id in theirs.gone if self.scene.is_present(object_id)])
            self.scene.take_notice(gone)
            for object_id in theirs.gone:
                self.mirror.cache.forget(object_id)
            stamp_ns = self.clock()
            change.events += [SceneEvent(SceneEventKind.UPDATED, stamp_ns, found) for found in theirs.objects]
        return len(theirs.objects) + len(theirs.gone) + self.learn(self.store, theirs)
