"""What comes into memory: frames, corrected poses, maps, reported changes, and what other robots did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.skill import StateChange
from memory_node.intake.change_grounding import ChangeGrounding
from memory_node.intake.graph_changes import GraphChanges
from memory_node.intake.short_term_mirror import GONE, ShortTermMirror
from memory_node.scene_graph.edits import SceneEdits
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.graph_undo import UndoBook
from memory_node.scene_graph.named_things import NamedThings
from memory_node.short_term.state_conflicts import StateClaim
from memory_node.store.errors import StoreBacklogError
from memory_node.store.records import StoreChange
from memory_node.store.store import Store

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
    make_id: Callable[[], str]
    undo: UndoBook

    def __post_init__(self) -> None:
        self._grounding = ChangeGrounding(
            self.scene.distances, self.scene.id_of, self.scene.present_id, self.scene.rows_carried, self.make_id
        )
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
                    self.mirror.clear()
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
                if self.mirror.holds(event.object.id):
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
            states = self.mirror.claim_states(object_id, believed, claims, self.clock())
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
                self.mirror.forget(object_id)
            stamp_ns = self.clock()
            change.events += [SceneEvent(SceneEventKind.UPDATED, stamp_ns, found) for found in theirs.objects]
        return len(theirs.objects) + len(theirs.gone) + self.learn(self.store, theirs)
