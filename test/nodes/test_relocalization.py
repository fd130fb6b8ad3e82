"""After a restart in a map with another origin, answers say so until what is stored has been laid onto what is seen."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robot_memory.msg import AnswerStatus
from robot_memory.srv import ConfirmRelocalization, FindObjects
from ros_peer import RosPeer, wait_until
from running_memory import counted, running_memory
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesis, ObjectHypothesisWithPose

from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.qos import LATCHED

SECOND_NS = 1_000_000_000
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
