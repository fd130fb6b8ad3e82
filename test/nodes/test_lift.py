"""The running node in a building of two floors, each with a map in a frame of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_drive import SECOND_NS, THINGS, camera_on_base, empty_map, fixed_transform, images, transforms
from ros_peer import RosPeer, wait_until
from running_memory import counted, running_memory

from memory_node.domain.geometry import Pose
from memory_node.domain.scene import SceneSnapshot
from memory_node.nodes import conversions
from memory_node.nodes.qos import LATCHED

UPSTAIRS_M = 3.2


class Robot:
    """Drives past a table on each floor; its odometry does not notice the lift."""

    def __init__(self, peer: RosPeer, node: Any) -> None:
        self._latched = LATCHED
        self._peer, self.node, self.frames = peer, node, 0
        fixed = fixed_transform()
        upstairs = Pose.planar(0.0, 0.0, 0.0, UPSTAIRS_M)
        fixed.transforms.append(conversions.transform_to_msg(upstairs, "map", "map_upstairs", 0))
        peer.publish("/tf_static", fixed, LATCHED)

    def take_map(self, frame: str, stamp_s: float) -> None:
        self._peer.publish("map", empty_map(int(stamp_s * SECOND_NS), frame), self._latched)

    def drive(self, map_frame: str, begin_s: float) -> None:
        for tick in range(4):
            stamp_ns = int((begin_s + 0.1 * tick) * SECOND_NS)
            base = Pose.planar(0.0, -0.1 + 0.05 * tick, 0.0)
            self._peer.publish("/tf", transforms(stamp_ns, base, map_frame=map_frame), 100)
            for topic, message in images(stamp_ns, base @ camera_on_base()):
                self._peer.publish(topic, message)
            self.frames += 1
            wait_until(lambda: counted(self.node).get("used.frames", 0) == self.frames)

    def scene(self) -> SceneSnapshot:
        scene: SceneSnapshot = self.node.memory.scene()
        return scene


@pytest.fixture
def robot(peer: RosPeer, tmp_path: Path) -> Iterator[Robot]:
    parameters = {"detections": "segment", "camera_reliability": "reliable"}
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **parameters) as node:
        yield Robot(peer, node)


def test_lift_leads_to_a_floor_of_its_own_and_moves_nothing(robot: Robot) -> None:
    robot.take_map("map", 1000.0)
    robot.drive("map", 1000.2)
    below = {found.id: found.box.center for found in robot.scene().objects}
    assert len(below) == len(THINGS)
    robot.take_map("map_upstairs", 1010.0)
    robot.drive("map_upstairs", 1010.2)
    wait_until(lambda: len(robot.scene().floors) == 2)
    scene = robot.scene()
    low, high = sorted(scene.floors, key=lambda floor: floor.height_m)
    assert (low.height_m, high.height_m) == (0.0, pytest.approx(UPSTAIRS_M))
    assert {f.id: f.box.center for f in scene.on_floor(low.id).objects} == {
        object_id: pytest.approx(center) for object_id, center in below.items()
    }
    above = sorted((found.box.center for found in scene.on_floor(high.id).objects), key=lambda center: center[1])
    expected = sorted(np.add(list(below.values()), [0.0, 0.0, UPSTAIRS_M]), key=lambda center: center[1])
    assert np.allclose(above, expected, atol=0.02)
    assert counted(robot.node).get("used.corrections", 0) == 0


def test_map_in_a_frame_that_nothing_leads_to_is_counted_and_left(robot: Robot) -> None:
    robot.take_map("map_of_the_cellar", 1000.0)
    robot.drive("map", 1002.0)
    wait_until(lambda: counted(robot.node).get("skipped.map_frame", 0) == 1)
    assert robot.scene().floors == ()
    robot.take_map("map", 1003.0)
    wait_until(lambda: len(robot.scene().floors) == 1)
