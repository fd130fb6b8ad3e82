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


def test_forgetting_without_a_condition_is_refused(edits: SceneEdits) -> None:
    with pytest.raises(InvalidValueError, match="got none"):
        edits.select()


def test_unknown_ids_are_named(edits: SceneEdits) -> None:
    with pytest.raises(NotFoundError, match="ghost"):
        edits.relabel("ghost", "Mug")
    with pytest.raises(NotFoundError, match="ghost"):
        edits.name_room("ghost", "kitchen")
