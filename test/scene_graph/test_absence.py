"""What depth says of places where memory expects things."""

import numpy as np
import pytest
from box_world import BoxWorld

from memory_node.domain.observation import Frame
from memory_node.scene_graph.absence import look_for
from memory_node.scene_graph.graph import SceneGraph


@pytest.fixture
def graph(world: BoxWorld) -> SceneGraph:
    made = SceneGraph()
    world.show(made, world.views(6))
    return made


def share_seen_through(graph: SceneGraph, frame: Frame, row: int) -> float:
    return float(look_for(np.array([row]), graph.state.table, frame, graph.state.config).through[0])


@pytest.mark.parametrize("there", [True, False])
def test_thing_beside_the_sliver_that_showed_of_it_is_not_seen_through(graph: SceneGraph, world, there: bool) -> None:
    """Of a mug that something hid, a sliver's box was kept, 7 cm beside the mug's middle."""
    table = graph.state.table
    mug = world.boxes["mug1"]
    row = min(
        (row for row in graph.state.active_rows().tolist() if graph.state.object_at(row).class_name == "mug"),
        key=lambda row: np.linalg.norm(table.center[row] - mug.center),
    )
    table.center[row] = mug.center - np.array([0.0, 0.07, 0.0])
    table.size[row] = [0.05, 0.01, 0.09]
    if not there:
        del world.boxes["mug1"], world.boxes["mug2"]
    frame = world.frame(20, world.views(6)[2])
    assert share_seen_through(graph, frame, row) == 1.0
    table.face_variance[row] = 0.3**2  # no side of it was ever seen
    assert (share_seen_through(graph, frame, row) > 0.6) is not there
