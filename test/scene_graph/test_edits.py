import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneEventKind
from memory_node.scene_graph.edits import SceneEdits
from memory_node.scene_graph.graph import SceneGraph

SECOND_NS = 1_000_000_000


@pytest.fixture
def graph() -> SceneGraph:
    graph = SceneGraph()
    size = np.array([0.1, 0.1, 0.1])
    for stamp_s, name, x_m in ((1, "Mug", 1.0), (2, "Bowl", 2.0)):
        box = OrientedBox(np.array([x_m, 0.0, 0.8]), size)
        seen = (ObjectObservation({name: 0.9}, box, np.eye(3) * 1e-4),)
        graph.observe(Frame(stamp_s * SECOND_NS, Pose.planar(0.0, 0.0, 0.0, 1.3), None, seen))
    return graph


@pytest.fixture
def edits(graph: SceneGraph) -> SceneEdits:
    return SceneEdits(graph.state, graph.places)


def ids(graph: SceneGraph) -> dict[str, str]:
    return {found.class_name: found.id for found in graph.objects()}


def test_relabelled_object_keeps_its_id_and_says_who_did_it(graph: SceneGraph, edits: SceneEdits) -> None:
    mug = ids(graph)["Mug"]
    (event,) = edits.relabel(mug, "Cup")
    assert event.kind is SceneEventKind.UPDATED
    assert (graph.object(mug).class_name, graph.object(mug).provenance) == ("Cup", "user")


def test_merged_entries_are_one(graph: SceneGraph, edits: SceneEdits) -> None:
    known = ids(graph)
    events = edits.merge(known["Mug"], known["Bowl"])
    assert [found.id for found in graph.objects()] == [known["Mug"]]
    assert (events[0].kind, events[0].object.id, events[0].into_id) == (
        SceneEventKind.MERGED,
        known["Bowl"],
        known["Mug"],
    )


def test_split_makes_a_second_one_at_the_place_named(graph: SceneGraph, edits: SceneEdits) -> None:
    edits.split(ids(graph)["Mug"], (1.0, 0.5, 0.8))
    mugs = [found for found in graph.objects() if found.class_name == "Mug"]
    assert sorted(float(found.box.center[1]) for found in mugs) == [0.0, 0.5]


def test_deleted_object_stays_in_history_and_forgotten_one_does_not(graph: SceneGraph, edits: SceneEdits) -> None:
    known = ids(graph)
    edits.delete(known["Mug"])
    assert [found.class_name for found in graph.objects()] == ["Bowl"]
    assert graph.object(known["Mug"]).removed
    edits.forget(edits.select(object_class="mug"))
    with pytest.raises(NotFoundError):
        graph.object(known["Mug"])


def test_restored_object_is_where_it_was(graph: SceneGraph, edits: SceneEdits) -> None:
    mug = ids(graph)["Mug"]
    edits.delete(mug)
    (event,) = edits.restore(mug)
    assert (event.kind, event.object.id) == (SceneEventKind.MOVED, mug)
    assert graph.object(mug).box.center.tolist() == [1.0, 0.0, 0.8]
    assert graph.object(mug).existence > 0.9
    with pytest.raises(InvalidValueError, match="not removed"):
        edits.restore(mug)


def test_selection_by_time_takes_what_was_seen_only_then(graph: SceneGraph, edits: SceneEdits) -> None:
    assert edits.select(begin_ns=2 * SECOND_NS, end_ns=3 * SECOND_NS) == [ids(graph)["Bowl"]]


def test_forgetting_without_a_condition_is_refused(edits: SceneEdits) -> None:
    with pytest.raises(InvalidValueError, match="got none"):
        edits.select()


def test_room_is_called_what_the_user_calls_it(graph: SceneGraph, edits: SceneEdits) -> None:
    graph.set_map(np.zeros((60, 60), np.int8), 0.1, Pose())
    (room,) = graph.snapshot().rooms
    edits.name_room(room.id, "kitchen")
    (named,) = graph.snapshot().rooms
    assert (named.name, named.named_by_user) == ("kitchen", True)


def test_unknown_ids_are_named(edits: SceneEdits) -> None:
    with pytest.raises(NotFoundError, match="ghost"):
        edits.relabel("ghost", "Mug")
    with pytest.raises(NotFoundError, match="ghost"):
        edits.name_room("ghost", "kitchen")
