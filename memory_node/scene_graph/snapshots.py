"""The graph as one frozen value: now, as of a stamp, or one object alone."""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.domain.scene import Relation, SceneObject, SceneSnapshot, relations_as_of
from memory_node.scene_graph.graph_readings import GraphReadings
from memory_node.scene_graph.relations import object_relations


class Snapshots:
    """Makes snapshots of a graph; the one of now is kept until the graph changes, because many ask for it.

    In all methods `frame_verified` says whether the map is known to be the one that what is stored was seen in.
    """

    def __init__(self, graph: GraphReadings) -> None:
        self._graph = graph
        self._latest: SceneSnapshot | None = None

    def now(self, frame_verified: bool) -> SceneSnapshot:
        """Return the graph as it is, without removed objects."""
        latest = self._latest
        if latest is None or (latest.version, latest.frame_verified) != (self._graph.version, frame_verified):
            latest = self._latest = self._whole(self._now_ns, self._graph.objects(), self._relations(), frame_verified)
        return latest

    def with_removed(self, frame_verified: bool) -> SceneSnapshot:
        """Return the graph as it is, with the objects that are kept for their history."""
        return self._whole(self._now_ns, self._graph.objects(removed=True), self._relations(), frame_verified)

    def as_of(self, stamp_ns: int, frame_verified: bool) -> SceneSnapshot:
        """Return the graph as it was believed to be at a stamp; see `as_of` for what is kept of then."""
        objects = tuple(self._graph.objects_as_of(self._graph.state.table.rows(), stamp_ns))
        return self._whole(stamp_ns, objects, relations_as_of(objects), frame_verified)

    def of_one(self, object_id: str, frame_verified: bool, as_of_ns: int = 0) -> SceneSnapshot:
        """Return one object alone, without places, now (removed or not) or as of a stamp; no object where nothing has
        this id, or nothing had it then."""
        graph, table = self._graph, self._graph.state.table
        known = table.id_of(object_id)
        objects: tuple[SceneObject, ...] = ()
        if known and as_of_ns:
            objects = tuple(graph.objects_as_of([table.row_of[known]], as_of_ns))
        elif known:
            objects = (graph.object(known),)
        stamp_ns = as_of_ns or self._now_ns
        return SceneSnapshot(stamp_ns, objects=objects, frame_verified=frame_verified, version=graph.version)

    @property
    def _now_ns(self) -> int:
        return self._graph.state.now_ns

    def _relations(self) -> list[Relation]:
        return object_relations(self._graph.state, self._graph.state.active_rows())

    def _whole(
        self, stamp_ns: int, objects: Iterable[SceneObject], relations: Iterable[Relation], frame_verified: bool
    ) -> SceneSnapshot:
        places = self._graph.places
        return SceneSnapshot(
            stamp_ns=stamp_ns,
            floors=tuple(places.floors.values()),
            rooms=tuple(places.rooms.values()),
            areas=tuple(places.areas.values()),
            objects=tuple(objects),
            relations=(*places.relations(), *relations),
            frame_verified=frame_verified,
            version=self._graph.version,
        )
