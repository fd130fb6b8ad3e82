"""Of the things that went missing, the one most like what turned up is taken for it, or none."""

from dataclasses import replace

import numpy as np
import pytest
from box_world import BoxWorld, looking

from memory_node.domain.geometry import OrientedBox
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable
from memory_node.scene_graph.same_instance import best_same_instance

CONFIG = SceneGraphConfig()


def straightforward(table: ObjectTable, name: str, size: np.ndarray, looks: np.ndarray | None) -> float | None:
    """Return how unlike the best candidate is, going through all of them."""
    found = []
    for row in table.rows():
        record = table.record(row)
        ratio = np.log(np.sort(np.maximum(table.size[row], 0.03)) / np.sort(np.maximum(size, 0.03)))
        unlike = 0.0 if looks is None or record.embedding is None else 1.0 - float(looks @ record.embedding)
        if record.best_class == name and record.movable and np.abs(ratio).max() <= np.log(1.6) and unlike <= 0.4:
            found.append(float(np.abs(ratio).max()) + unlike)
    return min(found, default=None)


@pytest.mark.parametrize("seed", range(5))
def test_the_one_most_alike_is_found_among_many(seed: int) -> None:
    random = np.random.default_rng(seed)

    def looks() -> np.ndarray:
        vector = random.uniform(0.0, 1.0, 4)
        return np.asarray(vector / np.linalg.norm(vector))

    table = ObjectTable()
    for number in range(120):
        name = ("mug", "can")[number % 2]
        record = ObjectRecord(f"{number}", {name: 1.0}, name, movable=bool(random.random() < 0.8))
        record.embedding = looks().astype(np.float16) if random.random() < 0.5 else None
        row = table.add(record)
        table.size[row] = random.uniform(0.05, 0.15, 3)
    for _ in range(40):
        size, seen = random.uniform(0.04, 0.2, 3), looks() if random.random() < 0.5 else None
        expected = straightforward(table, "mug", size, seen)
        best = best_same_instance(table, np.arange(120), "mug", np.zeros(3), size, seen, CONFIG)
        assert (best is None) == (expected is None)
        if best is not None:
            alone = ObjectTable()
            alone.size[alone.add(table.record(best))] = table.size[best]
            assert straightforward(alone, "mug", size, seen) == pytest.approx(expected, abs=1e-3)


def test_of_things_that_are_alike_the_nearest_is_meant() -> None:
    table = ObjectTable()
    for number, x_m in enumerate((3.0, 0.4, 1.0)):
        row = table.add(ObjectRecord(f"{number}", {"fork": 1.0}, "fork", movable=True))
        table.size[row], table.center[row] = (0.2, 0.03, 0.03), (x_m, 0.0, 0.7)
    there = np.array([0.0, 0.0, 0.7])
    assert best_same_instance(table, np.arange(3), "fork", there, np.array([0.2, 0.03, 0.03]), None, CONFIG) == 1


def test_what_cannot_move_or_has_no_name_is_not_taken_for_anything() -> None:
    table = ObjectTable()
    for name in ("object", "counter"):
        table.size[table.add(ObjectRecord(name, {name: 1.0}, name, movable=name != "counter"))] = 0.1
    for name in ("object", "counter"):
        assert best_same_instance(table, np.arange(2), name, np.zeros(3), np.full(3, 0.1), None, CONFIG) is None


def test_what_is_found_where_the_robot_comes_first_is_not_what_went_missing_elsewhere(world: BoxWorld) -> None:
    graph = SceneGraph(SceneGraphConfig())
    world.show(graph, world.views(5))
    kitchen = graph.objects_of_class("bowl")[0].id
    world.put("table2", 2.0, 10.0, 0.375, (0.8, 1.2, 0.75))
    world.put("bowl2", 2.0, 9.8, 0.79, (0.16, 0.16, 0.08))
    there = [looking((0.3, 9.2 + 0.12 * i, 1.4), (2.0, 10.0, 0.7)) for i in range(5)]
    world.show(graph, there, 10.0)
    other = next(found.id for found in graph.objects_of_class("bowl") if found.id != kitchen)
    del world.boxes["bowl"]
    world.show(graph, world.views(5), 40.0)
    assert graph.object(kitchen).removed
    assert [found.id for found in graph.objects_of_class("bowl")] == [other]
    # What comes to a place that was known before is it.
    world.put("bowl", 2.0, 10.3, 0.79, (0.16, 0.16, 0.08))
    world.show(graph, there, 60.0)
    assert {found.id for found in graph.objects_of_class("bowl")} == {other, kitchen}


def test_what_is_first_called_by_another_name_is_still_the_one_that_went_missing(world: BoxWorld) -> None:
    graph = SceneGraph(SceneGraphConfig())
    views = world.views(6)
    world.show(graph, views)
    bowl = graph.objects_of_class("bowl")[0].id
    del world.boxes["bowl"]
    world.show(graph, views, 20.0)
    assert graph.object(bowl).removed
    world.put("bowl", 2.2, 0.0, 0.79, (0.16, 0.16, 0.08))
    for i, camera in enumerate(views[:3]):
        frame = world.frame(40.0 + i, camera)
        called = {"pot": 0.9} if i == 0 else {"bowl": 0.9}
        seen = [replace(o, class_scores=called) if o.best_class == "bowl" else o for o in frame.observations]
        graph.observe(replace(frame, observations=tuple(seen)))
    (found,) = graph.objects_of_class("bowl")
    assert found.id == bowl
    assert not graph.objects_of_class("pot")
    assert [round(float(place.box.center[1]), 1) for place in found.history] == [-0.3]


def test_a_thing_and_the_newcomer_that_it_became_may_go_in_one_frame(world: BoxWorld) -> None:
    graph = SceneGraph(SceneGraphConfig())
    table = graph.state.table
    world.show(graph, world.views(5))
    bowl = graph.objects_of_class("bowl")[0].id
    del world.boxes["bowl"]
    world.put("bowl2", 2.0, 0.5, 0.79, (0.16, 0.16, 0.08))
    graph.observe(world.frame(10.0, world.views(1)[0]))
    assert len(graph.objects_of_class("bowl")) == 2
    del world.boxes["bowl2"]
    table.log_odds[[table.row(found.id) for found in graph.objects_of_class("bowl")]] = -1.4
    world.show(graph, world.views(2), 20.0)
    assert graph.objects_of_class("bowl") == []
    assert graph.object(bowl).removed


@pytest.mark.parametrize("seed", range(10))
def test_thin_thing_that_is_reported_twice_with_one_error_stays_one(seed: int) -> None:
    rng, world = np.random.default_rng(seed), BoxWorld()
    world.put("table", 2.0, 0.2, 0.35, (1.2, 0.8, 0.7))
    world.put("fork", 2.0, 0.2, 0.706, (0.4, 0.03, 0.012))
    graph = SceneGraph(SceneGraphConfig())
    for number, camera in enumerate(world.views(14)):
        frame, error = world.frame(1.0 + number, camera), rng.normal(0.0, 0.01, 3)
        seen = []
        for one in frame.observations:
            again = 2 if "fork" in one.class_scores and rng.random() < 0.2 else 1
            moved = [error + rng.normal(0.0, 0.002, 3) for _ in range(again)]
            boxes = [OrientedBox(one.box.center + offset, one.box.size, one.box.yaw_rad) for offset in moved]
            seen += [replace(one, box=box) for box in boxes]
        graph.observe(replace(frame, observations=tuple(seen)))
    assert len(graph.objects_of_class("fork")) == 1
