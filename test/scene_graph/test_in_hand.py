import numpy as np

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.skill import StateChange
from memory_node.scene_graph.graph import SceneGraph

SECOND_NS = 1_000_000_000


def seen(name: str, *places: tuple[float, float, float]) -> tuple[ObjectObservation, ...]:
    size = np.array([0.08, 0.08, 0.08])
    return tuple(ObjectObservation({name: 0.9}, OrientedBox(np.array(p), size), np.eye(3) * 1e-4) for p in places)


def frame(stamp_s: int, camera_x_m: float, observations: tuple[ObjectObservation, ...]) -> Frame:
    return Frame(stamp_s * SECOND_NS, Pose.planar(camera_x_m, 0.0, 0.0, 1.3), None, observations)


def test_held_object_seen_while_driving_stays_one() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, 0.0, seen("Apple", (0.8, 0.0, 0.9))))
    (apple,) = graph.objects()
    graph.apply_change(StateChange(apple.id, "Apple", 2 * SECOND_NS, held=True))
    for step in range(3, 8):
        graph.observe(frame(step, 1.0 * step, seen("Apple", (1.0 * step + 0.4, 0.0, 0.95))))
    assert [found.id for found in graph.objects()] == [apple.id]
    assert np.allclose(graph.object(apple.id).box.center, [7.4, 0.0, 0.95])


def test_second_apple_beyond_the_hand_is_another_one() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, 0.0, seen("Apple", (0.8, 0.0, 0.9))))
    (apple,) = graph.objects()
    graph.apply_change(StateChange(apple.id, "Apple", 2 * SECOND_NS, held=True))
    graph.observe(frame(3, 3.0, seen("Apple", (3.4, 0.0, 0.95), (5.0, 0.5, 0.9))))
    assert len(graph.objects()) == 2


def test_sighting_at_the_new_place_before_the_report_is_no_second_object() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, 0.0, seen("Apple", (0.8, 0.0, 0.9))))
    (apple,) = graph.objects()
    graph.observe(frame(5, 3.0, seen("Apple", (5.0, 0.02, 0.9))))
    assert len(graph.objects()) == 2
    put = StateChange(apple.id, "Apple", 4 * SECOND_NS, held=False, position=(5.0, 0.0, 0.9))
    graph.apply_change(put)
    assert [found.id for found in graph.objects()] == [apple.id]


def test_apple_that_lay_there_before_stays_a_second_one() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, 0.0, seen("Apple", (0.8, 0.0, 0.9))))
    (apple,) = graph.objects()
    graph.observe(frame(2, 3.0, seen("Apple", (5.0, 0.2, 0.9))))
    graph.apply_change(StateChange(apple.id, "Apple", 4 * SECOND_NS, held=False, position=(5.0, 0.0, 0.9)))
    assert len(graph.objects()) == 2
