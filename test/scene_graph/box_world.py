"""A small world of boxes that the scene graph's tests look at, rendered ray by ray with numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneEvent
from memory_node.scene_graph.graph import SceneGraph

CAMERA = Intrinsics(130.0, 130.0, 79.5, 59.5, 160, 120)


def cast_rays(
    lens: Intrinsics, camera: Pose, boxes: Iterable[OrientedBox], floor_m: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return exact depth (h, w) in metres, inf where there is nothing, and which box each pixel shows (its number in
    order, -1 the floor or nothing). camera: map_T_camera of the optical frame."""
    rows, columns = np.indices((lens.height, lens.width))
    rays = np.stack([(columns - lens.cx) / lens.fx, (rows - lens.cy) / lens.fy, np.ones(rows.shape)], axis=-1)
    rays = rays @ camera.matrix[:3, :3].T
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = np.where(rays[..., 2] < 0.0, (floor_m - camera.position[2]) / rays[..., 2], np.inf)
        number = np.full(depth.shape, -1)
        for index, box in enumerate(boxes):
            turn = Pose.planar(0.0, 0.0, -box.yaw_rad)
            start, way = turn.apply(camera.position - box.center), turn.apply(rays)
            ends = np.stack([(-0.5 * box.size - start) / way, (0.5 * box.size - start) / way])
            enter, leave = ends.min(axis=0).max(axis=-1), ends.max(axis=0).min(axis=-1)
            hit = (enter < leave) & (enter > 0.0) & (enter < depth)
            depth[hit], number[hit] = enter[hit], index
    return depth, number


def looking(eye: Sequence[float], at: Sequence[float]) -> Pose:
    """Return map_T_camera (optical frame) of a camera at `eye` that looks at a point."""
    forward = np.subtract(at, eye) / np.linalg.norm(np.subtract(at, eye))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([right, np.cross(forward, right), forward])
    matrix[:3, 3] = eye
    return Pose.from_matrix(matrix)


class BoxWorld:
    """Boxes by name over a floor at z = 0; `class_of` takes the name up to its first digit."""

    def __init__(self) -> None:
        self.boxes: dict[str, OrientedBox] = {}

    def put(self, name: str, x: float, y: float, z: float, size: tuple[float, float, float], yaw: float = 0.0) -> None:
        self.boxes[name] = OrientedBox(np.array([x, y, z]), np.array(size), yaw)

    def render(self, camera: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Return depth (h, w) in metres, 0 beyond 8 m, and which box (number in order, -1 floor) each pixel shows."""
        depth, number = cast_rays(CAMERA, camera, self.boxes.values())
        return np.where(depth < 8.0, depth, 0.0).astype(np.float32), number

    def views(self, count: int, at: tuple[float, float, float] = (2.0, 0.2, 0.7)) -> list[Pose]:
        """Return `count` views of a point from a slow walk past it."""
        return [looking((0.3, -0.8 + 0.12 * i, 1.4), at) for i in range(count)]

    def frame(
        self, stamp_s: float, camera: Pose, keyframe: str = "", detected: Callable[[str], bool] = lambda n: True
    ) -> Frame:
        """Return what a perfect detector makes of the view: the true boxes of everything with more than 15 pixels."""
        depth, number = self.render(camera)
        seen = [
            ObjectObservation({name.rstrip("0123456789"): 0.9}, box, np.eye(3) * 1e-4, int((number == i).sum()) * 16)
            for i, (name, box) in enumerate(self.boxes.items())
            if (number == i).sum() > 15 and detected(name)
        ]
        return Frame(int(stamp_s * 1e9), camera, CAMERA, tuple(seen), depth, True, keyframe)

    def show(
        self, graph: SceneGraph, cameras: Iterable[Pose], start_s: float = 1.0, every_s: float = 1.0, **options: Any
    ) -> list[SceneEvent]:
        """Let a graph look through some cameras one after the other; return what changed."""
        frames = (self.frame(start_s + every_s * i, camera, **options) for i, camera in enumerate(cameras))
        return [event for frame in frames for event in graph.observe(frame)]
