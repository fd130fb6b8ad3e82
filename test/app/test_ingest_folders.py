"""Recordings in the layouts that people publish: each is read, and what is bad in one is named and left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from box_world import cast_rays, looking

from memory_node.app.ingest.folders import open_folder
from memory_node.app.ingest.upright import find_up, level_world, up_from_text
from memory_node.cli import main
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose

F, WIDTH, HEIGHT = 280.0, 320, 240
MATRIX = np.array([[F, 0.0, 159.5], [0.0, F, 119.5], [0.0, 0.0, 1.0]])


def camera_pose(shift_m: float = 0.0, world: Pose | None = None) -> np.ndarray:
    """map_T_camera of a camera 1.2 m over a table at z = 0.7, looking down by 45 degrees."""
    pose = looking((0.0, shift_m, 1.2), (1.0, shift_m, 0.2))
    return (world @ pose if world else pose).matrix


def depth_m(pose: np.ndarray) -> np.ndarray:
    """A table at z = 0.7 with a box of 20 cm on it, ray by ray."""
    box = OrientedBox(np.array([0.5, 0.0, 0.8]), np.full(3, 0.2))
    return cast_rays(Intrinsics(F, F, 159.5, 119.5, WIDTH, HEIGHT), Pose.from_matrix(pose), [box], floor_m=0.7)[0]


def write_images(color: Path, depth: Path, pose: np.ndarray, units: float = 1000.0) -> None:
    for path in (color, depth):
        path.parent.mkdir(parents=True, exist_ok=True)
    picture = np.random.default_rng(1).integers(0, 255, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    cv2.imwrite(str(color), picture)
    cv2.imwrite(str(depth), (depth_m(pose) * units).astype(np.uint16))


def seven_scenes(folder: Path, world: Pose | None = None, frames: int = 3) -> Path:
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "camera-intrinsics.txt", MATRIX)
    for n in range(frames):
        stem = folder / f"frame-{n:06d}"
        write_images(Path(f"{stem}.color.jpg"), Path(f"{stem}.depth.png"), camera_pose(0.06 * n))
        np.savetxt(f"{stem}.pose.txt", camera_pose(0.06 * n, world))
    return folder


def scannet(folder: Path) -> Path:
    (folder / "intrinsic").mkdir()
    (folder / "pose").mkdir()
    np.savetxt(folder / "intrinsic" / "intrinsic_depth.txt", np.pad(MATRIX, ((0, 1), (0, 1))))
    for n in range(3):
        pose = camera_pose(0.06 * n)
        write_images(folder / "color" / f"{n}.jpg", folder / "depth" / f"{n}.png", pose)
        np.savetxt(folder / "pose" / f"{n}.txt", pose)
    # The colour camera sees the same in twice the pixels.
    np.savetxt(folder / "intrinsic" / "intrinsic_color.txt", np.diag([2.0, 2.0, 1.0]) @ MATRIX)
    for n in range(3):
        path = str(folder / "color" / f"{n}.jpg")
        cv2.imwrite(path, cv2.resize(cv2.imread(path), (2 * WIDTH, 2 * HEIGHT)))
    return folder


def replica(folder: Path) -> Path:
    poses = [camera_pose(0.06 * n) for n in range(3)]
    for n, pose in enumerate(poses):
        results = folder / "results"
        write_images(results / f"frame{n:06d}.jpg", results / f"depth{n:06d}.png", pose, 6553.5)
    np.savetxt(folder / "traj.txt", [pose.ravel() for pose in poses])
    camera = {"w": WIDTH, "h": HEIGHT, "fx": F, "fy": F, "cx": 159.5, "cy": 119.5, "scale": 6553.5}
    (folder / "cam_params.json").write_text(json.dumps({"camera": camera}))
    return folder


def open3d(folder: Path) -> Path:
    lines = []
    for n in range(3):
        pose = camera_pose(0.06 * n)
        write_images(folder / "color" / f"{n:05d}.jpg", folder / "depth" / f"{n:05d}.png", pose)
        lines += [f"{n} {n} {n + 1}", *(" ".join(map(str, row)) for row in pose)]
    (folder / "trajectory.log").write_text("\n".join(lines))
    told = {"width": WIDTH, "height": HEIGHT, "intrinsic_matrix": MATRIX.T.ravel().tolist()}
    (folder / "camera_intrinsic.json").write_text(json.dumps(told))
    return folder


def tum(folder: Path) -> Path:
    listed: dict[str, list[str]] = {"rgb": ["# colour"], "depth": ["# depth"]}
    truth = ["# stamp tx ty tz qx qy qz qw"]
    for n in range(3):
        pose = camera_pose(0.06 * n)
        stamp = 100.0 + n / 30.0
        write_images(folder / f"rgb/{stamp:.6f}.png", folder / f"depth/{stamp + 0.005:.6f}.png", pose, 5000.0)
        listed["rgb"].append(f"{stamp:.6f} rgb/{stamp:.6f}.png")
        listed["depth"].append(f"{stamp + 0.005:.6f} depth/{stamp + 0.005:.6f}.png")
        at = Pose.from_matrix(pose)
        truth.append(" ".join(map(str, [stamp + 0.005, *at.position, *at.quaternion])))
    for name, lines in listed.items():
        (folder / f"{name}.txt").write_text("\n".join(lines))
    (folder / "groundtruth.txt").write_text("\n".join(truth))
    told = {"fx": F, "fy": F, "cx": 159.5, "cy": 119.5, "width": WIDTH, "height": HEIGHT}
    (folder / "intrinsics.json").write_text(json.dumps(told))
    return folder


@pytest.mark.parametrize("write", [seven_scenes, scannet, replica, open3d, tum])
def test_layout_is_told_and_read(write: Callable[[Path], Path], tmp_path: Path) -> None:
    recording = open_folder(write(tmp_path))
    images = list(recording.images())
    assert len(images) == len(recording) == 3
    assert not recording.skipped
    for n, image in enumerate(images):
        assert np.allclose(image.map_T_camera.matrix, camera_pose(0.06 * n), atol=1e-4)
        assert np.allclose(image.depth_m, depth_m(camera_pose(0.06 * n)), atol=2e-3)
        assert image.color.shape == (HEIGHT, WIDTH, 3)
        assert image.intrinsics.fx == F
    assert [image.stamp_ns for image in images] == sorted(image.stamp_ns for image in images)
    assert len(list(open_folder(tmp_path, stride=2).images())) == 2


def test_unknown_folder_names_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(InvalidValueError, match=r"(?s)7-Scenes.*TUM.*ScanNet.*Replica.*Open3D"):
        open_folder(tmp_path)


def truncate(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def smaller(path: Path) -> None:
    cv2.imwrite(str(path), cv2.resize(cv2.imread(str(path), -1), (160, 120), interpolation=cv2.INTER_NEAREST))


def sixteen_bits(path: Path) -> None:
    color = cv2.imread(str(path)).astype(np.uint16) * 256
    path.unlink()
    cv2.imwrite(str(path.with_suffix(".png")), color)


def lose(value: float) -> Callable[[Path], None]:
    return lambda path: np.savetxt(path, np.full((4, 4), value))


@pytest.mark.parametrize(
    ("file", "spoil", "reason"),
    [
        ("color.jpg", truncate, "image_truncated"),
        ("depth.png", truncate, "image_truncated"),
        ("depth.png", smaller, "image_size"),
        ("color.jpg", sixteen_bits, "color_encoding"),
        ("pose.txt", lose(float("nan")), "pose_lost"),
        ("pose.txt", lose(float("-inf")), "pose_lost"),
        ("pose.txt", lose(1.0), "pose_invalid"),
        ("pose.txt", lambda path: path.write_text("1 0 0"), "pose_unreadable"),
        ("depth.png", lambda path: path.unlink(), "unreadable_frame"),
        ("color.jpg", lambda path: path.unlink(), "unreadable_frame"),
        ("pose.txt", lambda path: path.unlink(), "pose_unreadable"),
    ],
)
def test_bad_frame_is_counted_and_named(file: str, spoil: Callable[[Path], None], reason: str, tmp_path: Path) -> None:
    seven_scenes(tmp_path / "scene")
    spoil(tmp_path / "scene" / f"frame-000001.{file}")
    recording = open_folder(tmp_path / "scene")
    assert len(list(recording.images())) == 2
    assert dict(recording.skipped) == {reason: 1}
    assert "frame-000001" in recording.skipped.named[reason][0]


def test_up_is_found_from_the_planes_of_a_tilted_world(tmp_path: Path) -> None:
    world = Pose(np.zeros(3), np.array([0.5, 0.5, 0.1, 0.7]) / np.linalg.norm([0.5, 0.5, 0.1, 0.7]))
    up = find_up(open_folder(seven_scenes(tmp_path, world)))
    assert np.allclose(up, world.matrix[:3, 2], atol=0.01)
    assert np.allclose(level_world(up).matrix[:3, :3] @ world.matrix[:3, 2], [0.0, 0.0, 1.0], atol=0.01)
    assert np.allclose(up_from_text("0,0,2"), [0.0, 0.0, 1.0])
    for text in ("0,0,0", "up", "1,2", "nan,0,1"):
        with pytest.raises(InvalidValueError, match="--up"):
            up_from_text(text)


def test_kitchen_knows_which_way_is_up(shared_dir: Path) -> None:
    up = find_up(open_folder(shared_dir / "data" / "kitchen", stride=8))
    assert up @ np.array([0.0, -0.8975, -0.441]) > 0.999


def test_recording_becomes_a_robots_memory(tmp_path: Path, ingested: Callable[..., dict[str, Any]]) -> None:
    from memory_node.memory_config import MemoryConfig
    from memory_node.opening import open_memory

    world = Pose(np.zeros(3), np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]))
    seven_scenes(tmp_path / "scene", world, frames=4)
    database = str(tmp_path / "memory.db")
    shown = ingested(tmp_path / "scene", "--database", database)
    memory = open_memory(MemoryConfig(database=database))
    objects = memory.scene().objects
    memory.close()
    assert len(objects) == len(shown["scenes"][""]["objects"]) > 0
    assert any(np.allclose(found.box.size, 0.2, atol=0.05) for found in objects)
    assert (tmp_path / "out" / "scene_map.png").is_file()


def test_options_that_cannot_be_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = str(seven_scenes(tmp_path / "scene", frames=1))
    for words, said in (
        (["--stride", "0"], "--stride"),
        (["--rate", "-1"], "--rate"),
        (["--up", "sideways"], "--up"),
        (["--class-names", "x"], "--class-names without --detector"),
        (["--detector", str(tmp_path / "none.onnx")], "no such ONNX model"),
    ):
        assert main(["ingest", scene, "--out", str(tmp_path / "out"), *words]) == 1
        assert said in capsys.readouterr().err
