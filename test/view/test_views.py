"""The files for Rerun and Foxglove: written frame by frame, and readable by their makers' own readers."""

from __future__ import annotations

import base64
import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from memory_node.cli import main
from memory_node.domain.errors import InvalidValueError, PortTakenError
from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.opening import MemoryConfig, open_memory
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.view import ShownFrames, open_views, serve_view
from memory_node.view.view import facts_of, rectangle_of, uncertainty_of

CAMERA = Intrinsics(fx=100.0, fy=100.0, cx=80.0, cy=60.0, width=160, height=120)
BOX = OrientedBox(np.array([0.0, 0.0, 2.0]), np.array([0.4, 0.2, 0.2]))
SECOND_NS = 1_000_000_000


def moment(second: int) -> tuple[NDArray[np.uint8], Frame]:
    depth = np.full((120, 160), 2.0, np.float32)
    color = np.full((120, 160, 3), 90, np.uint8)
    seen = ObjectObservation({"mug": 0.9}, BOX, np.eye(3) * 1e-4, pixels=100)
    return color, Frame(second * SECOND_NS, Pose(), CAMERA, (seen,), depth)


def known(name: str) -> SceneObject:
    return SceneObject(name, {"mug": 1.0}, BOX, np.eye(3) * 1e-4, 0.9, 1, 1, 1)


def messages_in(path: Path) -> list[tuple[Any, Any, Any]]:
    """Return (schema, channel, message) of what a file for Foxglove holds; skip where nothing can read it."""
    reader = pytest.importorskip("mcap.reader")
    with path.open("rb") as file:
        return list(reader.make_reader(file).iter_messages())


def test_box_is_drawn_where_the_camera_sees_it() -> None:
    # Its near face is 1.9 m away: 0.2 / 1.9 * 100 px to either side.
    assert rectangle_of(BOX, CAMERA, Pose()) == pytest.approx((69.5, 54.7, 90.5, 65.3), abs=0.1)
    assert rectangle_of(OrientedBox(np.zeros(3), np.ones(3)), CAMERA, Pose()) is None


def test_foxglove_is_told_what_is_there_and_what_has_gone(tmp_path: Path) -> None:
    pytest.importorskip("mcap")
    (view,) = open_views(None, tmp_path / "a.mcap")
    view.show(*moment(1), [known("a"), known("b")])
    view.show(*moment(2), [known("b")])
    view.close()
    told = [(s.name, m.log_time, json.loads(m.data)) for s, _, m in messages_in(tmp_path / "a.mcap")]
    scenes = [message for name, _, message in told if name == "foxglove.SceneUpdate"]
    assert [[entity["id"] for entity in scene["entities"]] for scene in scenes] == [["a", "b"], ["b"]]
    assert [deletion["id"] for deletion in scenes[1]["deletions"]] == ["a"]
    assert scenes[0]["entities"][0]["cubes"][0]["size"] == {"x": 0.4, "y": 0.2, "z": 0.2}
    (first, _) = [message for name, _, message in told if name == "foxglove.ImageAnnotations"]
    assert first["texts"][0]["text"] == "mug"
    assert {stamp_ns for _, stamp_ns, _ in told} == {SECOND_NS, 2 * SECOND_NS}


def test_foxglove_is_told_where_a_text_holds_bytes(tmp_path: Path) -> None:
    pytest.importorskip("mcap")
    (view,) = open_views(None, tmp_path / "a.mcap")
    color, frame = moment(1)
    view.show(color, frame, [known("a")])
    view.close()
    told = {s.name: (json.loads(s.data), json.loads(m.data)) for s, _, m in messages_in(tmp_path / "a.mcap")}
    for schema, message in told.values():
        assert set(message) <= set(schema["properties"])
    decoded = {
        name: base64.b64decode(message["data"])
        for name, (schema, message) in told.items()
        if schema["properties"].get("data", {}).get("contentEncoding") == "base64"
    }
    assert decoded.keys() == {"foxglove.CompressedImage", "foxglove.RawImage", "foxglove.PointCloud"}
    picture = cv2.imdecode(np.frombuffer(decoded["foxglove.CompressedImage"], np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape == color.shape
    depth = np.frombuffer(decoded["foxglove.RawImage"], "<u2").reshape(120, 160)
    assert (depth == 2000).all()
    cloud = told["foxglove.PointCloud"][1]
    assert len(decoded["foxglove.PointCloud"]) % cloud["point_stride"] == 0
    (z,) = [field for field in cloud["fields"] if field["name"] == "z"]
    assert np.frombuffer(decoded["foxglove.PointCloud"], "<f4", 1, z["offset"]) == pytest.approx(2.0)


def test_viewers_are_told_how_sure_memory_is(tmp_path: Path) -> None:
    covariance = np.array([[0.04, 0.03, 0.0], [0.03, 0.04, 0.0], [0.0, 0.0, 0.01]])
    half_axes, quaternion = uncertainty_of(known("a").changed(covariance=covariance))
    turned = Rotation.from_quat(quaternion).as_matrix()
    assert np.allclose(turned @ np.diag((half_axes / 2.0) ** 2) @ turned.T, covariance, atol=1e-9)
    assert facts_of(known("a"))["sigma_m"] == pytest.approx(0.01)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return a stored memory in which a mug was moved."""
    path = tmp_path / "memory.db"
    memory = open_memory(MemoryConfig(database=str(path)))
    memory.set_map(OccupancyMap(np.zeros((80, 80), np.int8), 0.05, Pose()), SECOND_NS)
    (mug,) = memory.remember([StateChange("mug", "Mug", 2 * SECOND_NS, position=(1.0, 1.0, 0.8), held=False)])
    memory.remember([StateChange(mug, "Mug", 9 * SECOND_NS, position=(3.0, 1.0, 0.8), held=False)])
    memory.close()
    return path


def test_stored_memory_becomes_a_file_for_foxglove(database: Path, tmp_path: Path) -> None:
    pytest.importorskip("mcap")
    target = tmp_path / "out.mcap"
    assert main(["store", "export", str(target), "--database", str(database)]) == 0
    assert target.stat().st_mode & 0o077 == 0
    told = [(m.log_time, json.loads(m.data)["entities"]) for _, _, m in messages_in(target)]
    places = {
        stamp_ns: [entity["cubes"][0]["pose"]["position"]["x"] for entity in entities] for stamp_ns, entities in told
    }
    assert (places[2 * SECOND_NS], places[9 * SECOND_NS]) == ([1.0], [3.0])
    stamps = {stamp_ns: entity["timestamp"]["sec"] for stamp_ns, entities in told for entity in entities}
    assert stamps[9 * SECOND_NS] == 9
    facts = {one["key"]: one["value"] for one in told[-1][1][0]["metadata"]}
    assert facts["name"] == "Mug 1"
    assert facts["id"] == told[-1][1][0]["id"]
    assert float(facts["sigma_m"]) > 0.0


def of_foxglove(name: str) -> dict[str, Any]:
    """Return Foxglove's own JSON schema of a message."""
    path = os.environ.get("FOXGLOVE_SCHEMAS")
    if not path:
        pytest.skip("FOXGLOVE_SCHEMAS names no file: make test-clients")
    schemas: dict[str, dict[str, Any]] = json.loads(Path(path).read_text(encoding="utf-8"))
    return schemas[name.removeprefix("foxglove.")]


def encodings(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, str | None]]:
    """Yield each field of a schema with what says that its text holds bytes."""
    if "items" in schema:
        yield from encodings(schema["items"], f"{at}[]")
    for name, part in schema.get("properties", {}).items():
        yield f"{at}.{name}", part.get("contentEncoding")
        yield from encodings(part, f"{at}.{name}")


@pytest.mark.parametrize("kind", ["frames", "stored"])
def test_foxgloves_own_schemas_hold_in_the_files(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    pytest.importorskip("mcap")
    jsonschema = pytest.importorskip("jsonschema")
    path = tmp_path / "a.mcap"
    if kind == "stored":
        assert main(["store", "export", str(path), "--database", str(request.getfixturevalue("database"))]) == 0
    else:
        (view,) = open_views(None, path)
        view.show(*moment(1), [known("a"), known("b")])
        view.show(*moment(2), [known("b")])
        view.close()
    told = messages_in(path)
    assert told
    for ours, _, message in told:
        theirs = of_foxglove(ours.name)
        jsonschema.validate(json.loads(message.data), theirs)
        assert set(encodings(json.loads(ours.data))) <= set(encodings(theirs)), ours.name


def test_stored_memory_becomes_a_file_for_rerun(database: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    target = tmp_path / "out.rrd"
    assert main(["store", "export", str(target), "--database", str(database)]) == 0
    reading = [sys.executable, "-m", "rerun", "rrd", "print", "-vvv", str(target)]
    told = subprocess.run(reading, capture_output=True, text=True, timeout=110, check=True).stdout
    for word in ("/map/objects/uncertainty", "memory.id", "memory.sigma_m", "Mug 1"):
        assert word in told


def test_rerun_file_holds_the_frames(tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    (view,) = open_views(tmp_path / "a.rrd", None)
    view.show(*moment(1), [known("a")])
    view.close()
    data = (tmp_path / "a.rrd").read_bytes()
    assert data.startswith(b"RRF")
    for path in (b"/map/objects", b"/map/camera/image", b"/map/cloud"):
        assert path in data


def is_served(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5.0).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_port_that_the_user_may_not_serve_is_a_wrong_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rerun")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "socket", type("Refused", (socket.socket,), {"bind": refuse}))
    with pytest.raises(InvalidValueError, match="view_port: port 80 cannot be served"):
        serve_view(80)


def test_rerun_serves_viewers_until_it_is_closed() -> None:
    pytest.importorskip("rerun")
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"port {port}"):
            serve_view(port)
    view = serve_view(port)
    view.show(*moment(1), [known("a")])
    assert is_served(port)
    view.close()
    deadline = time.monotonic() + 20.0
    while is_served(port) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_served(port)


class SlowView:
    """A viewer that shows one frame and waits to be let go."""

    def __init__(self) -> None:
        self.is_showing, self.may_go_on = threading.Event(), threading.Event()
        self.shown: list[tuple[int, int]] = []
        self.is_closed = False

    def show_objects(self, stamp_ns: int, objects: Sequence[SceneObject]) -> None:
        raise AssertionError("frames are shown with their objects")

    def show(self, color: NDArray[np.uint8], frame: Frame, objects: Sequence[SceneObject]) -> None:
        self.shown.append((frame.stamp_ns // SECOND_NS, len(objects)))
        self.is_showing.set()
        assert self.may_go_on.wait(10.0)

    def close(self) -> None:
        self.is_closed = True


def test_viewer_that_is_slow_is_shown_the_newest_frame_and_holds_nobody_up() -> None:
    view = SlowView()
    frames = ShownFrames(view, lambda: [known("a")])
    frames.show(*moment(1))
    assert view.is_showing.wait(10.0)
    for second in range(2, 6):
        frames.show(*moment(second))
    view.may_go_on.set()
    deadline = time.monotonic() + 10.0
    while frames.figures()["shown.frames"] < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    frames.close()
    assert view.shown == [(1, 1), (5, 1)]
    assert frames.figures() == {"shown.frames": 2, "skipped.busy": 3}
    assert view.is_closed
