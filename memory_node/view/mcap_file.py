"""An MCAP file that Foxglove opens: images with annotations, depth, a cloud, the camera's pose, and the graph."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.domain.errors import ExtraMissingError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneObject
from memory_node.view.view import cloud, facts_of, jpeg, rectangle_of, uncertainty_of

Schema = dict[str, Any]
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_BYTES: Schema = {"type": "string", "contentEncoding": "base64"}


def _of(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_TIME = {**_of(sec=_COUNT, nsec=_COUNT), "title": "time"}
_DURATION = {**_of(sec={"type": "integer"}, nsec=_COUNT), "title": "duration"}
_VECTOR = _of(x=_NUMBER, y=_NUMBER, z=_NUMBER)
_QUATERNION = _of(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_POSE = _of(position=_VECTOR, orientation=_QUATERNION)
_POINT = _of(x=_NUMBER, y=_NUMBER)
_COLOR = _of(r=_NUMBER, g=_NUMBER, b=_NUMBER, a=_NUMBER)
_SOLID = _of(pose=_POSE, size=_VECTOR, color=_COLOR)
_BILLBOARD = _of(pose=_POSE, billboard=_FLAG, font_size=_NUMBER, scale_invariant=_FLAG, color=_COLOR, text=_TEXT)
# Shapes of an entity that we do not draw; Foxglove's schema wants their lists all the same.
OTHER_SHAPES = ("arrows", "cylinders", "lines", "triangles", "models")
_ENTITY = _of(
    timestamp=_TIME,
    frame_id=_TEXT,
    id=_TEXT,
    lifetime=_DURATION,
    frame_locked=_FLAG,
    metadata=_list(_of(key=_TEXT, value=_TEXT)),
    spheres=_list(_SOLID),
    cubes=_list(_SOLID),
    texts=_list(_BILLBOARD),
    **{kind: _list(_of()) for kind in OTHER_SHAPES},
)
_OUTLINE = _of(
    timestamp=_TIME,
    type=_COUNT,
    points=_list(_POINT),
    outline_color=_COLOR,
    outline_colors=_list(_COLOR),
    fill_color=_COLOR,
    thickness=_NUMBER,
)
_CAPTION = _of(
    timestamp=_TIME, position=_POINT, text=_TEXT, font_size=_NUMBER, text_color=_COLOR, background_color=_COLOR
)
_FIELD = _of(name=_TEXT, offset=_COUNT, type=_COUNT)
_SCHEMAS = {
    "foxglove.CompressedImage": _of(timestamp=_TIME, frame_id=_TEXT, data=_BYTES, format=_TEXT),
    "foxglove.RawImage": _of(
        timestamp=_TIME, frame_id=_TEXT, width=_COUNT, height=_COUNT, encoding=_TEXT, step=_COUNT, data=_BYTES
    ),
    "foxglove.CameraCalibration": _of(
        timestamp=_TIME,
        frame_id=_TEXT,
        width=_COUNT,
        height=_COUNT,
        distortion_model=_TEXT,
        D=_list(_NUMBER),
        K=_list(_NUMBER),
        R=_list(_NUMBER),
        P=_list(_NUMBER),
    ),
    "foxglove.ImageAnnotations": _of(circles=_list(_of()), points=_list(_OUTLINE), texts=_list(_CAPTION)),
    "foxglove.FrameTransform": _of(
        timestamp=_TIME, parent_frame_id=_TEXT, child_frame_id=_TEXT, translation=_VECTOR, rotation=_QUATERNION
    ),
    "foxglove.PointCloud": _of(
        timestamp=_TIME, frame_id=_TEXT, pose=_POSE, point_stride=_COUNT, fields=_list(_FIELD), data=_BYTES
    ),
    "foxglove.SceneUpdate": _of(deletions=_list(_of(timestamp=_TIME, type=_COUNT, id=_TEXT)), entities=_list(_ENTITY)),
}


try:
    from mcap.writer import Writer
except ImportError as error:
    raise ExtraMissingError("an MCAP file needs mcap: pip install 'robot_memory[view]'", name="mcap") from error

_CAMERA = "camera"
_BLUE = {"r": 0.12, "g": 0.44, "b": 0.92, "a": 0.35}
_UPRIGHT = {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}
_YELLOW, _WHITE = {"r": 1.0, "g": 0.77, "b": 0.0, "a": 1.0}, {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0}
_CLEAR = {"r": 0.0, "g": 0.0, "b": 0.0, "a": 0.0}
_RED = {"r": 0.9, "g": 0.2, "b": 0.2, "a": 0.25}
# Fields of a packed point, and their types by Foxglove's numbers (7: FLOAT32, 1: UINT8).
_PACKED_POINT = np.dtype(
    [(axis, "<f4") for axis in "xyz"] + [(name, "u1") for name in ("red", "green", "blue", "alpha")]
)
_KINDS = {"f": 7, "u": 1}
# topic -> the schema by which Foxglove knows what it is
_TOPICS = {
    "/camera/image": "foxglove.CompressedImage",
    "/camera/depth": "foxglove.RawImage",
    "/camera/cloud": "foxglove.PointCloud",
    "/camera/calibration": "foxglove.CameraCalibration",
    "/camera/annotations": "foxglove.ImageAnnotations",
    "/tf": "foxglove.FrameTransform",
    "/memory/objects": "foxglove.SceneUpdate",
}


class McapFile:
    """Writes the file while it is shown frames."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._writer = Writer(self._file)
        self._writer.start(profile="", library="robot_memory")
        self._channels = {topic: self._channel(topic, name) for topic, name in _TOPICS.items()}
        self._known: set[str] = set()

    def show(self, color: NDArray[np.uint8], frame: Frame, objects: Sequence[SceneObject]) -> None:
        """Show an RGB image (h, w, 3), the frame with what was seen in it, and what is remembered now."""
        stamp_ns, i = frame.stamp_ns, frame.intrinsics
        stamp = {"sec": stamp_ns // 1_000_000_000, "nsec": stamp_ns % 1_000_000_000}
        headed = {"timestamp": stamp, "frame_id": _CAMERA}
        self._write("/camera/image", stamp_ns, {**headed, "data": _text(jpeg(color)), "format": "jpeg"})
        if frame.depth_m is not None:
            self._write("/camera/depth", stamp_ns, {**headed, **_depth(frame.depth_m)})
            points, colors = cloud(color, frame)
            self._write("/camera/cloud", stamp_ns, {"timestamp": stamp, "frame_id": "map", **_packed(points, colors)})
        if i is not None:
            self._write_camera(i, stamp_ns, headed)
            self._write("/camera/annotations", stamp_ns, _annotations(frame, i, stamp))
        at, turned = frame.map_T_camera.position.tolist(), frame.map_T_camera.quaternion.tolist()
        transform = {"translation": dict(zip("xyz", at)), "rotation": dict(zip("xyzw", turned))}
        self._write(
            "/tf", stamp_ns, {"timestamp": stamp, "parent_frame_id": "map", "child_frame_id": _CAMERA, **transform}
        )
        self.show_objects(stamp_ns, objects)

    def show_objects(self, stamp_ns: int, objects: Sequence[SceneObject]) -> None:
        """Show what was remembered at a stamp."""
        stamp = {"sec": stamp_ns // 1_000_000_000, "nsec": stamp_ns % 1_000_000_000}
        gone = sorted(self._known - {found.id for found in objects})
        self._known = {found.id for found in objects}
        deletions = [{"timestamp": stamp, "type": 0, "id": object_id} for object_id in gone]
        entities = [_entity(found, stamp) for found in objects]
        self._write("/memory/objects", stamp_ns, {"deletions": deletions, "entities": entities})

    def close(self) -> None:
        """Finish the file."""
        self._writer.finish()
        self._file.close()

    def _write_camera(self, i: Intrinsics, stamp_ns: int, headed: dict[str, Any]) -> None:
        k = [i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0]
        p = [i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0]
        unturned = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        lens: dict[str, Any] = {"distortion_model": "", "D": [], "K": k, "R": unturned, "P": p}
        self._write("/camera/calibration", stamp_ns, {**headed, "width": i.width, "height": i.height, **lens})

    def _channel(self, topic: str, name: str) -> int:
        schema = json.dumps({"title": name, **_SCHEMAS[name]}).encode()
        return self._writer.register_channel(topic, "json", self._writer.register_schema(name, "jsonschema", schema))

    def _write(self, topic: str, stamp_ns: int, message: dict[str, Any]) -> None:
        self._writer.add_message(self._channels[topic], stamp_ns, json.dumps(message).encode(), stamp_ns)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _depth(depth_m: NDArray[np.floating]) -> dict[str, Any]:
    """Return depth (h, w) in metres as an image of whole millimetres, 0 where none is known."""
    height, width = depth_m.shape
    millimetres = np.nan_to_num(np.asarray(depth_m, np.float64) * 1000.0, nan=0.0, posinf=0.0, neginf=0.0)
    data = np.clip(np.round(millimetres), 0, 65_535).astype("<u2").tobytes()
    return {"width": width, "height": height, "encoding": "mono16", "step": 2 * width, "data": _text(data)}


def _packed(points: NDArray[np.floating], colors: NDArray[np.uint8]) -> dict[str, Any]:
    """Return points (n, 3) of the map and their colours (n, 3)."""
    packed = np.zeros(len(points), _PACKED_POINT)
    for index, axis in enumerate("xyz"):
        packed[axis] = points[:, index]
    for index, name in enumerate(("red", "green", "blue")):
        packed[name] = colors[:, index]
    packed["alpha"] = 255
    told: dict[str, Any] = dict(_PACKED_POINT.fields or {})
    fields = [{"name": name, "offset": at, "type": _KINDS[kind.kind]} for name, (kind, at, *_) in told.items()]
    origin = {"position": dict.fromkeys("xyz", 0.0), "orientation": _UPRIGHT}
    return {"pose": origin, "point_stride": _PACKED_POINT.itemsize, "fields": fields, "data": _text(packed.tobytes())}


def _annotations(frame: Frame, intrinsics: Intrinsics, stamp: dict[str, int]) -> dict[str, Any]:
    outlines, texts = [], []
    for observation in frame.observations:
        rectangle = rectangle_of(observation.box, intrinsics, frame.map_T_camera)
        if rectangle is None:
            continue
        left, top, right, bottom = rectangle
        corners = [{"x": x, "y": y} for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]
        line = {"outline_color": _YELLOW, "outline_colors": [], "fill_color": _CLEAR, "thickness": 2.0}
        outlines.append({"timestamp": stamp, "type": 2, "points": corners, **line})  # LINE_LOOP
        text = {"position": {"x": left, "y": top}, "text": spoken(observation.best_class), "font_size": 12.0}
        texts.append({"timestamp": stamp, **text, "text_color": _WHITE, "background_color": _BLUE})
    return {"circles": [], "points": outlines, "texts": texts}


def _entity(found: SceneObject, stamp: dict[str, int]) -> dict[str, Any]:
    x, y, z = found.box.center.tolist()
    turned = Pose.planar(x, y, found.box.yaw_rad, z)
    pose = {"position": {"x": x, "y": y, "z": z}, "orientation": dict(zip("xyzw", turned.quaternion.tolist()))}
    over = {"position": {"x": x, "y": y, "z": float(found.box.top_m) + 0.03}, "orientation": _UPRIGHT}
    half_axes, quaternion = uncertainty_of(found)
    around = {"position": {"x": x, "y": y, "z": z}, "orientation": dict(zip("xyzw", quaternion.tolist()))}
    ellipsoid = {"pose": around, "size": dict(zip("xyz", (2.0 * half_axes).tolist())), "color": _RED}
    size = dict(zip("xyz", found.box.size.tolist()))
    label = {"billboard": True, "font_size": 12.0, "scale_invariant": True, "color": _WHITE}
    return {
        "timestamp": stamp,
        "frame_id": "map",
        "id": found.id,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": False,
        "metadata": [{"key": key, "value": str(value)} for key, value in facts_of(found).items()],
        **{kind: [] for kind in OTHER_SHAPES},
        "spheres": [ellipsoid],
        "cubes": [{"pose": pose, "size": size, "color": _BLUE}],
        "texts": [{"pose": over, "text": found.name or spoken(found.class_name), **label}],
    }
