"""What the running node remembers follows SLAM's corrections: a jump of map->odom, or a path of optimised poses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_drive import SECOND_NS, THINGS, camera_on_base, fixed_transform, images, transforms
from ros_peer import RosPeer, wait_until
from running_memory import counted, running_memory

from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.qos import LATCHED

CORRECTION = Pose.planar(1.0, 0.3, np.radians(10.0))
MORE_ERROR_M = 0.02


class Robot:
    """Drives past the table, as its odometry tells it; `map_T_odom` is what SLAM believes."""

    def __init__(self, peer: RosPeer, node: Any) -> None:
        self._peer, self._node = peer, node
        self.map_T_odom = Pose()
        self.frames = 0
        peer.publish("/tf_static", fixed_transform(), LATCHED)

    def pose(self, after_s: float) -> Pose:
        return Pose.planar(0.0, -0.1 + 0.1 * after_s, 0.0)

    def tell(self, after_s: float) -> None:
        stamp_ns = int((1000.0 + after_s) * SECOND_NS)
        self._peer.publish("/tf", transforms(stamp_ns, self.pose(after_s), self.map_T_odom), 100)

    def look(self, after_s: float) -> None:
        stamp_ns = int((1000.0 + after_s) * SECOND_NS)
        for topic, message in images(stamp_ns, self.pose(after_s) @ camera_on_base()):
            self._peer.publish(topic, message)
        self.frames += 1
        wait_until(lambda: counted(self._node).get("used.frames", 0) == self.frames)

    def drive(self, *ticks: float) -> None:
        for after_s in ticks:
            self.tell(after_s)
            self.look(after_s)


@pytest.fixture
def robot(request: pytest.FixtureRequest, peer: RosPeer, tmp_path: Path) -> Iterator[tuple[Robot, Any]]:
    parameters = {"detections": "segment", "camera_reliability": "reliable", "corrections": request.param}
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **parameters) as node:
        yield Robot(peer, node), node


def errors_m(node: Any, transform: Pose) -> dict[str, float]:
    """Return how far each object is from the true thing nearest to it, where the map is moved by a transform."""
    true = [transform.apply(np.array(center)) for center, _ in THINGS.values()]
    found = node.memory.scene().objects
    return {o.id: min(float(np.linalg.norm(o.box.center - center)) for center in true) for o in found}


def assert_followed(node: Any, before: dict[str, float]) -> None:
    after = errors_m(node, CORRECTION)
    assert len(before) == 2
    assert after.keys() == before.keys()
    assert max(after[name] - before[name] for name in after) < MORE_ERROR_M


@pytest.mark.parametrize("robot", ["map_to_odom"], indirect=True)
def test_objects_follow_a_jump_of_map_to_odom_and_keep_their_ids(robot: tuple[Robot, Any]) -> None:
    driver, node = robot
    driver.drive(0.2, 0.4, 0.6, 0.8)
    before = errors_m(node, Pose())
    driver.tell(0.9)
    driver.map_T_odom = CORRECTION
    driver.tell(1.0)
    wait_until(lambda: counted(node).get("used.corrections") == 1)
    assert_followed(node, before)
    # A picture from before the jump that comes after it shows the table where it is now.
    driver.look(0.9)
    assert_followed(node, before)
    driver.drive(1.2, 1.4, 1.6)
    assert_followed(node, before)


@pytest.mark.parametrize("robot", ["path"], indirect=True)
def test_objects_follow_a_path_of_optimised_poses_and_keep_their_ids(robot: tuple[Robot, Any], peer: RosPeer) -> None:
    driver, node = robot
    ticks = (0.2, 0.4, 0.6, 0.8)
    driver.drive(*ticks)
    before = errors_m(node, Pose())
    way = {int((1000.0 + after_s) * SECOND_NS): driver.pose(after_s) for after_s in ticks}
    peer.publish("optimized_path", conversions.path_to_msg(way, 1001 * SECOND_NS))
    corrected = {stamp_ns: CORRECTION @ pose for stamp_ns, pose in way.items()}
    driver.map_T_odom = CORRECTION
    driver.tell(1.1)
    peer.publish("optimized_path", conversions.path_to_msg(corrected, int(1001.1 * SECOND_NS)))
    wait_until(lambda: counted(node).get("used.corrections") == 2)
    assert_followed(node, before)
    driver.drive(1.2, 1.4, 1.6)
    assert_followed(node, before)
