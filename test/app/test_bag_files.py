"""Recordings as people have them: lone storage files, some cut short, and images that cannot be used."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from table_recording import BOX_CENTER, CAMERA, camera_pose, table_with_box, write_messages

from memory_node.cli import main
from memory_node.nodes import conversions
from memory_node.nodes.run import activate_ros

FRAMES = 6
Ingest = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", params=["MCAP", "SQLITE3"])
def bag(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a bag in one storage file."""
    folder = tmp_path_factory.mktemp("bags") / "drive"
    write_drive(folder, request.param)
    return folder


def write_drive(folder: Path, storage: str, depth_of: Callable[[np.ndarray], np.ndarray] = lambda depth: depth) -> None:
    activate_ros()
    from tf2_msgs.msg import TFMessage

    pose = camera_pose()
    transform = conversions.transform_to_msg(pose, "map", "camera", 0)
    messages: list[tuple[str, Any, int]] = [("/tf_static", TFMessage(transforms=[transform]), 0)]
    color = np.random.default_rng(0).integers(0, 255, (480, 640, 3), np.uint8)
    depth = depth_of(table_with_box(pose))
    for index in range(FRAMES):
        stamp_ns = 1_000_000_000 * (index + 1)
        messages += [
            ("/cam/info", conversions.intrinsics_to_msg(CAMERA, stamp_ns, "camera"), stamp_ns),
            ("/cam/color", conversions.image_to_msg(color, "rgb8", stamp_ns, "camera"), stamp_ns),
            ("/cam/depth", conversions.image_to_msg(depth, "32FC1", stamp_ns, "camera"), stamp_ns),
        ]
    write_messages(folder, storage, messages)


def storage_file(folder: Path) -> Path:
    (file,) = (path for path in folder.iterdir() if path.suffix in (".mcap", ".db3"))
    return file


def times_seen(memory: dict[str, Any]) -> int:
    (found,) = memory["scenes"][""]["objects"]
    assert np.allclose(found["center"], BOX_CENTER, atol=0.03)
    return int(found["times_seen"])


@pytest.mark.parametrize("how", ["file", "folder with a broken metadata.yaml"])
def test_bag_without_its_metadata_is_read(bag: Path, how: str, tmp_path: Path, ingested: Ingest) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    file = shutil.copy(storage_file(bag), folder)
    if how.endswith("broken metadata.yaml"):
        (folder / "metadata.yaml").write_text("a: [1")
    memory = ingested(Path(file) if how == "file" else folder)
    assert times_seen(memory) == FRAMES
    assert memory["skipped"] == {}


def test_files_of_a_split_bag_are_read_in_their_order(tmp_path: Path, ingested: Ingest) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    for number in range(2):
        write_drive(tmp_path / f"part{number}", "MCAP")
        shutil.copy(storage_file(tmp_path / f"part{number}"), folder / f"drive_{number}.mcap")
    assert times_seen(ingested(folder)) >= FRAMES


def test_bag_that_was_cut_short_is_refused_with_what_mends_it(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = storage_file(bag)
    file = tmp_path / source.name
    content = source.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert main(["ingest", str(file), "--out", str(tmp_path / "out")]) == 1
    advice = "mcap recover" if file.suffix == ".mcap" else "sqlite3 FILE .recover"
    assert advice in capsys.readouterr().err


def test_recording_without_usable_images_is_an_error_that_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_drive(tmp_path / "bag", "MCAP", np.zeros_like)
    assert main(["ingest", str(tmp_path / "bag"), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "could be used" in told
    assert f"{FRAMES} depth_empty" in told


def test_recording_whose_depth_is_out_of_range_holds_nothing(tmp_path: Path, ingested: Ingest) -> None:
    write_drive(tmp_path / "bag", "MCAP", lambda depth: depth * np.float32(1000.0))
    assert ingested(tmp_path / "bag")["scenes"][""]["objects"] == []
