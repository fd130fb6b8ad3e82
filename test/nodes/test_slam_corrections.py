"""SLAM's corrections move what memory holds, and a map of another origin is asked about first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path as PathMsg
from recorded_drive import SECOND_NS, THINGS, camera_on_base, fixed_transform, images, transforms
from robot_memory.msg import AnswerStatus
from robot_memory.srv import ConfirmRelocalization, FindObjects
from ros_peer import RosPeer, wait_until
from running_memory import counted, running_memory
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesis, ObjectHypothesisWithPose

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


def path_message(poses: dict[int, Pose], stamp_ns: int) -> PathMsg:
    stamped = [
        PoseStamped(header=conversions.header(at_ns), pose=conversions.pose_to_msg(pose))
        for at_ns, pose in poses.items()
    ]
    return PathMsg(header=conversions.header(stamp_ns), poses=stamped)


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
    peer.publish("optimized_path", path_message(way, 1001 * SECOND_NS))
    corrected = {stamp_ns: CORRECTION @ pose for stamp_ns, pose in way.items()}
    driver.map_T_odom = CORRECTION
    driver.tell(1.1)
    peer.publish("optimized_path", path_message(corrected, int(1001.1 * SECOND_NS)))
    wait_until(lambda: counted(node).get("used.corrections") == 2)
    assert_followed(node, before)
    driver.drive(1.2, 1.4, 1.6)
    assert_followed(node, before)


HOME = {
    "Fridge": (1.0, 0.0, 0.9),
    "Sofa": (2.0, 2.0, 0.4),
    "Bed": (4.0, 0.0, 0.3),
    "Stove": (0.0, 3.0, 0.4),
    "Mug": (3.0, 1.0, 0.8),
}
SHIFT = Pose.planar(2.0, -0.7, np.radians(30.0))


def show(peer: RosPeer, node: Any, first_s: int, *names: str, map_T_room: Pose, count: int = 3) -> None:
    """Show things of HOME in a room that lies somewhere in the map, and wait until the node has taken them in."""
    lies = conversions.transform_to_msg(map_T_room, "map", "room", 0)
    peer.publish("/tf_static", TFMessage(transforms=[lies]), LATCHED)
    wait_until(lambda: node._inputs._poses._transforms.fixed_pose("room") is not None)
    before = counted(node).get("used.frames", 0)
    for second in range(first_s, first_s + count):
        array = Detection3DArray(header=conversions.header(second * SECOND_NS, "room"))
        for name in names:
            result = ObjectHypothesisWithPose(hypothesis=ObjectHypothesis(class_id=name, score=0.9))
            found = Detection3D(results=[result])
            found.bbox.center.position = conversions.point_to_msg(HOME[name])
            found.bbox.size = conversions.vector_to_msg((0.3, 0.3, 0.3))
            array.detections.append(found)
        peer.publish("detections_3d", array)
    wait_until(lambda: counted(node).get("used.frames", 0) == before + count)


def mug(peer: RosPeer) -> Any:
    (answer,) = peer.call(FindObjects, "memory/find_objects", object_class="Mug", k=1).answers
    return answer


@pytest.fixture
def database(peer: RosPeer, tmp_path: Path) -> str:
    """Return a database that remembers HOME."""
    path = str(tmp_path / "memory.db")
    with running_memory(peer.domain_id, path, detections="none") as node:
        show(peer, node, 1, *HOME, map_T_room=Pose())
    return path


def lies_at(answer: Any, place: np.ndarray) -> bool:
    at = answer.pose.pose.position
    return bool(np.allclose([at.x, at.y, at.z], place, atol=0.02))


def test_fixed_things_tell_that_the_origin_has_moved(peer: RosPeer, database: str) -> None:
    with running_memory(peer.domain_id, database, detections="none") as node:
        before = mug(peer)
        assert before.status.value == AnswerStatus.FRAME_NOT_VERIFIED
        assert "confirm_relocalization" in node._diagnosis().message
        show(peer, node, 1000, "Fridge", "Sofa", map_T_room=SHIFT)
        assert mug(peer).status.value == AnswerStatus.FRAME_NOT_VERIFIED
        show(peer, node, 1010, "Fridge", "Sofa", "Bed", "Stove", map_T_room=SHIFT)
        after = mug(peer)
        assert after.status.value == AnswerStatus.OK
        assert node._diagnosis().message == "ok"
        assert after.object_id == before.object_id
        assert lies_at(after, SHIFT.apply(HOME["Mug"]))
    with running_memory(peer.domain_id, database, detections="none") as node:
        assert lies_at(mug(peer), SHIFT.apply(HOME["Mug"]))  # what was moved is durable


def test_service_tells_how_far_the_map_has_moved(peer: RosPeer, database: str) -> None:
    with running_memory(peer.domain_id, database, detections="none") as node:
        show(peer, node, 1000, "Fridge", map_T_room=SHIFT)
        told = {"shifted": True, "new_map_from_old_map": conversions.pose_to_msg(SHIFT)}
        assert peer.call(ConfirmRelocalization, "memory/confirm_relocalization", **told).success
        assert mug(peer).status.value == AnswerStatus.OK
        assert lies_at(mug(peer), SHIFT.apply(HOME["Mug"]))
        fridges = node.memory.scene().objects
        assert sorted(found.class_name for found in fridges) == sorted(HOME)
