"""A depth camera beside the colour camera: depth is brought to the colour camera's view by TF, in topics and bags."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from recorded_drive import SECOND_NS, THINGS, camera_on_base, depth_of_table, fixed_transform, transforms, write_bag
from ros_peer import RosPeer, wait_until
from running_memory import running_memory, worked_off
from sensor_msgs.msg import Image

from memory_node.cli import main
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneObject
from memory_node.nodes import conversions
from memory_node.nodes.inputs.arrivals import Images, RgbdCamera, Unread
from memory_node.nodes.inputs.ordered_inputs import Moment
from memory_node.nodes.qos import LATCHED

FRAMES = 5
COLOR_LENS = Intrinsics(400.0, 400.0, 211.5, 159.5, 424, 320)
DEPTH_LENS = Intrinsics(250.0, 250.0, 155.0, 122.0, 320, 240)


def depth_camera_beside() -> Pose:
    """Return the place of the depth camera: 8 cm to the right of the colour camera and turned a little inwards."""
    matrix = np.eye(4)
    cos, sin = np.cos(0.05), np.sin(0.05)
    matrix[:3] = [[cos, 0.0, -sin, 0.08], [0.0, 1.0, 0.0, 0.0], [sin, 0.0, cos, 0.0]]
    return Pose.from_matrix(matrix)


def recorded() -> list[tuple[int, str, Any]]:
    """Return what a robot that stands at a table records: two cameras with their camera_info, and TF."""
    start_ns = 1000 * SECOND_NS
    fixed = fixed_transform()
    fixed.transforms.append(conversions.transform_to_msg(depth_camera_beside(), "camera", "depth_camera", 0))
    told: list[tuple[int, str, Any]] = [(start_ns, "/tf_static", fixed)]
    told += [(at, "/tf", transforms(at, Pose())) for at in range(start_ns, start_ns + 2 * SECOND_NS, SECOND_NS // 20)]
    depth = depth_of_table(camera_on_base() @ depth_camera_beside(), DEPTH_LENS)
    color = np.full((COLOR_LENS.height, COLOR_LENS.width, 3), 128, np.uint8)
    for number in range(FRAMES):
        at = start_ns + SECOND_NS // 2 + number * SECOND_NS // 5
        told += [
            (at, "camera/color/camera_info", conversions.intrinsics_to_msg(COLOR_LENS, at, "camera")),
            (at, "camera/depth/camera_info", conversions.intrinsics_to_msg(DEPTH_LENS, at, "depth_camera")),
            (at, "camera/color/image_raw", conversions.image_to_msg(color, "rgb8", at, "camera")),
            (at, "camera/depth/image_raw", conversions.image_to_msg(depth, "32FC1", at, "depth_camera")),
        ]
    return sorted(told, key=lambda entry: entry[0])


class KeptFrames:
    """A viewer that keeps the sizes of colour and depth of what it is shown."""

    def __init__(self) -> None:
        self.shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self.is_closed = False

    def show(self, color: NDArray[np.uint8], frame: Frame, objects: Sequence[SceneObject]) -> None:
        self.shapes.append((color.shape[:2], frame.depth_m.shape))

    def close(self) -> None:
        self.is_closed = True


def test_depth_of_another_camera_is_brought_to_the_colour_camera_in_topics_and_bags(
    peer: RosPeer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = KeptFrames()
    monkeypatch.setattr("memory_node.nodes.memory.serve_view", lambda port: view)
    settings = {
        "detections": "segment",
        "camera_reliability": "reliable",
        "depth_registration": "tf",
        "view": "rerun",
        "expert.most_behind": 100,
    }
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **settings) as node:
        told = recorded()
        for _, topic, message in (entry for entry in told if entry[1].startswith("/tf")):
            peer.publish(topic, message, LATCHED if topic == "/tf_static" else 100)
        last = Moment(0, told[-1][0])
        wait_until(lambda: node._inputs._poses._sensor_pose("depth_camera", last, False) is not None)
        for _, topic, message in (entry for entry in told if not entry[1].startswith("/tf")):
            peer.publish(topic, message, 100)
        wait_until(lambda: worked_off(node) >= FRAMES)
        boxes = [found.box for found in node.memory.scene().objects]
        hashed = node.memory.hash()
        wait_until(lambda: bool(view.shapes))
    # A viewer is shown colour with the depth that lies on it.
    assert set(view.shapes) == {((COLOR_LENS.height, COLOR_LENS.width), (COLOR_LENS.height, COLOR_LENS.width))}
    assert view.is_closed
    assert len(boxes) == len(THINGS)
    for center, size in THINGS.values():
        nearest = min(boxes, key=lambda box: float(np.linalg.norm(box.center - center)))
        # The segments end a little above the table.
        assert np.linalg.norm(nearest.center - center) < 0.03
        assert nearest.size[2] == pytest.approx(size[2], abs=0.05)
    write_bag(tmp_path / "bag", recorded())
    assert main(["ingest", str(tmp_path / "bag"), "--json", "--out", str(tmp_path / "out")]) == 0
    assert json.loads(capsys.readouterr().out)["hashes"][""] == hashed


def test_depth_without_a_camera_info_of_its_own_is_waited_for_and_then_skipped() -> None:
    by_topic = {topic: message for _, topic, message in recorded()}
    depth, color = (
        Unread.of(Image, bytes(serialize_message(by_topic[f"camera/{name}/image_raw"]))) for name in ("depth", "color")
    )
    images = Images(Moment(0, 0), depth, color, {})
    camera = RgbdCamera("tf")
    camera.take_info(by_topic["camera/color/camera_info"])
    assert not camera.is_known
    with pytest.raises(InputSkippedError, match="camera/depth/camera_info"):
        camera.pictures(images)
    camera.take_info(by_topic["camera/depth/camera_info"], of_depth=True)
    assert camera.is_known
    color, depth_m, lens = camera.view(*camera.pictures(images), depth_camera_beside())
    assert color.shape[:2] == depth_m.shape == (lens.height, lens.width)
