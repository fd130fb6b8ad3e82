import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from table_recording import BOX_CENTER, CAMERA, camera_pose, table_with_box, write_bag, write_messages

from memory_node.cli import main
from memory_node.nodes import conversions
from memory_node.perception.detection import Detection
from memory_node.perception.surface import level_pose

Ingest = Callable[..., dict[str, Any]]


def write_folder(folder: Path) -> None:
    depth_mm = np.round(table_with_box(camera_pose()) * 1000.0).astype(np.uint16)
    for name in ("a", "b"):
        cv2.imwrite(str(folder / f"{name}_depth.png"), depth_mm)
        cv2.imwrite(str(folder / f"{name}_color.png"), np.full((480, 640, 3), 128, np.uint8))
    (folder / "c_depth.png").write_bytes(b"no image")
    values = {"fx": CAMERA.fx, "fy": CAMERA.fy, "cx": CAMERA.cx, "cy": CAMERA.cy}
    (folder / "intrinsics.json").write_text(json.dumps(values))


def only_object(scene: dict) -> dict:
    (found,) = scene["objects"]
    return found


def test_level_pose_finds_the_table_under_a_tilted_camera() -> None:
    pose = camera_pose(tilt_rad=np.pi / 4)
    found = level_pose(table_with_box(pose), CAMERA)
    assert np.allclose(found.matrix, pose.matrix, atol=0.01)


def test_camera_that_sees_only_a_wall_has_no_level_pose() -> None:
    assert level_pose(np.full((480, 640), 1.5, np.float32), CAMERA) is None


def test_folder_becomes_a_memory_of_each_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_folder(tmp_path)
    assert main(["ingest", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    memory = json.loads((tmp_path / "out" / "memory.json").read_text())
    assert sorted(memory["scenes"]) == ["a", "b"]
    assert memory["skipped"] == {"unreadable_frame": 1}
    assert np.allclose(only_object(memory["scenes"]["a"])["center"], BOX_CENTER, atol=0.03)
    assert "a: 1 objects" in shown
    picture = cv2.imread(str(tmp_path / "out" / "a_boxes.png"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 2  # boxes are drawn on the even grey


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
def test_bag_becomes_one_memory_in_the_map(storage: str, tmp_path: Path, ingested: Ingest) -> None:
    write_bag(tmp_path / "bag", storage)
    memory = ingested(tmp_path / "bag")
    found = only_object(memory["scenes"][""])
    assert np.allclose(found["center"], BOX_CENTER, atol=0.03)
    assert found["times_seen"] == 3
    assert memory["skipped"] == {"no_transform": 1}
    assert len(memory["scenes"][""]["areas"]) >= 4


def test_parameters_of_the_memory_node_are_followed(
    tmp_path: Path, ingested: Ingest, capsys: pytest.CaptureFixture[str]
) -> None:
    write_folder(tmp_path)

    def objects_with(parameters: str) -> int:
        path = tmp_path / "parameters.yaml"
        path.write_text(f"/**/memory: {{ros__parameters: {parameters}}}")
        scenes = ingested(tmp_path, "--params-file", str(path))["scenes"]
        return sum(len(scene["objects"]) for scene in scenes.values())

    assert objects_with("{map_frame: map}") > 0
    assert objects_with("{expert: {perception: {min_pixels: 400000}}}") == 0
    (tmp_path / "wrong.yaml").write_text("/**/memory: {ros__parameters: {expert: {perception: {min_pixel: 5}}}}")
    assert main(["ingest", str(tmp_path), "--params-file", str(tmp_path / "wrong.yaml")]) == 1
    assert "did you mean expert.perception.min_pixels?" in capsys.readouterr().err


def test_real_kinect_frames_give_objects_on_the_table(shared_dir: Path, ingested: Ingest) -> None:
    memory = ingested(shared_dir / "data" / "mosd")
    assert len(memory["scenes"]) == 6
    for scene in memory["scenes"].values():
        assert scene["objects"]
        bottoms = [o["center"][2] - 0.5 * o["size"][2] for o in scene["objects"]]
        assert min(bottoms) > -0.03  # nothing under the table


def write_compressed_bag(folder: Path, lens: tuple[float, ...] = ()) -> None:
    """A bag as people record it to save space: JPEG colour, PNG depth, odometry of the camera instead of TF, and a
    detection of the box in every frame."""
    from geometry_msgs.msg import TransformStamped
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import CompressedImage

    pose = camera_pose()
    told: TransformStamped = conversions.transform_to_msg(pose, "odom", "camera", 0)
    messages = []
    for index in range(3):
        stamp_ns = 1_000_000_000 * (index + 1)
        info = conversions.intrinsics_to_msg(CAMERA, stamp_ns, "camera")
        if lens:
            info.d = list(lens)
        where = Odometry(header=conversions.header(stamp_ns, "odom"), child_frame_id="camera")
        where.pose.pose = conversions.pose_to_msg(conversions.transform_from_msg(told.transform))
        coded = cv2.imencode(".jpg", np.full((480, 640, 3), 128, np.uint8))[1].tobytes()
        color = CompressedImage(header=info.header, format="rgb8; jpeg compressed bgr8", data=coded)
        depth = (table_with_box(pose) * 1000.0).astype(np.uint16)
        png = bytes(12) + cv2.imencode(".png", depth)[1].tobytes()
        compressed = CompressedImage(header=info.header, format="16UC1; compressedDepth png", data=png)
        camera_T_map = pose.inverse().apply(np.array(BOX_CENTER))
        u = CAMERA.fx * camera_T_map[0] / camera_T_map[2] + CAMERA.cx
        v = CAMERA.fy * camera_T_map[1] / camera_T_map[2] + CAMERA.cy
        found = Detection({"toaster": 0.9}, (u - 60.0, v - 60.0, u + 60.0, v + 60.0))
        messages += [
            ("/cam/info", info, stamp_ns),
            ("/odom", where, stamp_ns),
            ("/cam/color/compressed", color, stamp_ns),
            ("/cam/depth/compressedDepth", compressed, stamp_ns),
            ("/detections", conversions.detections_to_msg([found], stamp_ns, "camera"), stamp_ns),
        ]
    write_messages(folder, "MCAP", messages)


def test_compressed_bag_with_odometry_and_detections_becomes_named_memory(tmp_path: Path, ingested: Ingest) -> None:
    write_compressed_bag(tmp_path / "bag")
    memory = ingested(tmp_path / "bag")
    found = only_object(memory["scenes"][""])
    assert found["times_seen"] == 3
    assert max(found["classes"], key=found["classes"].get) == "toaster"
    assert np.allclose(found["center"], BOX_CENTER, atol=0.04)
    assert memory["skipped"] == {}


def test_distorted_images_of_a_bag_are_rectified(tmp_path: Path) -> None:
    from memory_node.app.ingest.rosbag import Rosbag
    from memory_node.nodes.node_parameters import MemoryParameters

    write_compressed_bag(tmp_path / "plain")
    write_compressed_bag(tmp_path / "bent", lens=(-0.2, 0.05, 0.0, 0.0, 0.0))
    plain, bent = (next(Rosbag(tmp_path / name, MemoryParameters()).images()) for name in ("plain", "bent"))
    row, column = 40, 60
    # A barrel lens shows what is at the border nearer to the middle: the straight image takes it from there.
    x, y = (column - CAMERA.cx) / CAMERA.fx, (row - CAMERA.cy) / CAMERA.fy
    squared = x * x + y * y
    scale = 1.0 - 0.2 * squared + 0.05 * squared**2
    source = round(y * scale * CAMERA.fy + CAMERA.cy), round(x * scale * CAMERA.fx + CAMERA.cx)
    assert source != (row, column)
    assert bent.depth_m[row, column] == pytest.approx(plain.depth_m[source], abs=0.01)
