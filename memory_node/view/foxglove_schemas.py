"""Foxglove's message schemas as JSON schemas, with the fields that our messages have.

docs.foxglove.dev/docs/sdk/schemas. A reader needs the schema to know that a text holds bytes: `contentEncoding`.
"""

from __future__ import annotations

from typing import Any

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


def schema_of(name: str) -> Schema:
    """Return the JSON schema of one of Foxglove's messages."""
    return {"title": name, **_SCHEMAS[name]}
