"""The planner node verifies by the pictures on an image topic, and tells on /diagnostics what came of it."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from free_domain import free_domain
from picture_truth import AS_WANTED, OTHERWISE, looks
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import qos_profile_sensor_data
from robot_memory.action import ExecuteSkill
from ros_peer import RosPeer, spun, wait_until
from running_memory import running_memory
from sensor_msgs.msg import Image
from test_planner_dialogue import Person

from memory_node.domain.skill import SkillResult
from memory_node.nodes import conversions
from memory_node.nodes.node_parameters import VerifierParameters
from memory_node.nodes.planner import CameraPictures

TOPIC = "camera/color/image_raw"


class BoastfulRobot:
    """An ExecuteSkill server that reports success at once; so many openings open nothing.

    Its camera shows white once the fridge is open.
    """

    def __init__(self, peer: RosPeer, boasts: int, encoding: str) -> None:
        self.opened = 0
        self._boasts, self._encoding, self._node = boasts, encoding, peer.node
        group = ReentrantCallbackGroup()
        self._server = ActionServer(peer.node, ExecuteSkill, "execute_skill", self._execute, callback_group=group)
        self._images = peer.node.create_publisher(Image, TOPIC, qos_profile_sensor_data)
        peer.node.create_timer(0.1, self._show, callback_group=group)

    def close(self) -> None:
        self._server.destroy()

    def _show(self) -> None:
        color = AS_WANTED if self.opened > self._boasts else OTHERWISE
        image = np.full((48, 64, 3), color, np.uint8)
        now_ns = self._node.get_clock().now().nanoseconds
        self._images.publish(conversions.image_to_msg(image, self._encoding, now_ns, "camera"))

    def _execute(self, goal: Any) -> Any:
        call = conversions.call_from_msg(goal.request.call)
        self.opened += call.skill == "OpenObject"
        goal.succeed()
        found = "Fridge" if call.skill == "Explore" else ""
        return conversions.skill_result_to_msg(SkillResult(call, True, object_id=found), "")


class Ring(Person):
    """Memory, planner and robot on one domain, and a person. diagnoses: the newest statuses by name."""

    def __init__(self, peer: RosPeer, robot: BoastfulRobot) -> None:
        self.robot = robot
        self.diagnoses: dict[str, Any] = {}
        peer.node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)
        super().__init__(peer)

    def counts(self) -> dict[str, str]:
        """Return what the planner tells of verification; empty where it tells nothing."""
        status = self.diagnoses.get("planner: verification")
        return {value.key: value.value for value in status.values} if status is not None else {}

    def _hear(self, message: Any) -> None:
        self.diagnoses.update({status.name: status for status in message.status})


@contextmanager
def running(folder: Path, parameters: Mapping[str, Any], boasts: int, encoding: str = "rgb8") -> Iterator[Ring]:
    """Yield a ring whose planner has these parameters."""
    peer = RosPeer(free_domain())
    robot = BoastfulRobot(peer, boasts, encoding)
    given = {f"planner:{name}": value for name, value in parameters.items()}
    # The pictures are the planner's; without TF memory could use none of them.
    with running_memory(peer.domain_id, str(folder / "memory.db"), given, detections="none"):
        from memory_node.nodes.planner import PlannerNode

        with spun(PlannerNode()) as node:
            ring = Ring(peer, robot)
            try:
                yield ring
            finally:
                node.end()
        ring.close()
        robot.close()
        peer.close()


def by_pictures_of(server: Any) -> dict[str, Any]:
    return {"verifier.kind": "pictures", "llm.verifier.base_url": server.url}


def test_opening_that_the_picture_refuses_is_tried_again(tmp_path: Path, endpoint: Callable[..., Any]) -> None:
    server = endpoint(looks(), looks())
    with running(tmp_path, by_pictures_of(server), boasts=1) as ring:
        result = ring.says("open the fridge")
        assert result.success, result.message
        assert ring.robot.opened == 2
        assert len(server.requests) == 2
        wait_until(lambda: ring.counts().get("verified") == "1")
        assert ring.counts() == {"verified": "1", "refused": "1", "not_visible": "0"}
        assert ring.diagnoses["planner: verification"].message == "ok"


@pytest.mark.parametrize(
    ("encoding", "topic", "reason"), [("nv21", TOPIC, "color_encoding"), ("rgb8", "another/camera", "no_picture")]
)
def test_picture_that_cannot_be_had_is_counted_and_memory_decides(
    tmp_path: Path, endpoint: Callable[..., Any], encoding: str, topic: str, reason: str
) -> None:
    server = endpoint()
    parameters = {**by_pictures_of(server), "verifier.image_topic": topic, "expert.verifier.wait_s": 0.5}
    with running(tmp_path, parameters, 9, encoding) as ring:
        assert ring.says("open the fridge").success
        assert server.requests == []
        wait_until(lambda: ring.counts().get(f"skipped.{reason}") == "1")
        status = ring.diagnoses["planner: verification"]
        assert status.level == DiagnosticStatus.WARN
        assert f"was not verified by a picture: {reason}" in status.message


def test_by_default_nobody_listens_to_the_camera(tmp_path: Path) -> None:
    with running(tmp_path, {}, boasts=9) as ring:
        assert ring.says("open the fridge").success
        wait_until(lambda: "planner: instructions" in ring.diagnoses)
        assert "planner: verification" not in ring.diagnoses
        assert ring.robot._images.get_subscription_count() == 0


def test_picture_is_waited_for_until_one_is_new_enough(peer: RosPeer) -> None:
    pictures = CameraPictures(peer.node, VerifierParameters(image_topic="seen", wait_s=10.0))

    def show(stamp_s: int) -> None:
        image = np.zeros((4, 4, 3), np.uint8)
        peer.publish("seen", conversions.image_to_msg(image, "rgb8", stamp_s * 10**9, "camera"))

    show(5)
    first = pictures.newest(5 * 10**9)
    assert first.stamp_ns == 5 * 10**9
    later = threading.Timer(0.3, show, (7,))
    later.start()
    second = pictures.newest(6 * 10**9)
    assert second.stamp_ns == 7 * 10**9
    pictures.end()
    started_s = time.monotonic()
    last = pictures.newest(8 * 10**9)
    assert last.stamp_ns == 7 * 10**9
    assert time.monotonic() - started_s < 5.0
