"""One call from a camera's images to the frame that the scene graph takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import FloatArray, Intrinsics, OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.perception.box_mask import Relief, masks_in_boxes
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.crop import Crop
from memory_node.perception.detection import Detection, Detection3D
from memory_node.perception.image_decoding import labels_from_masks
from memory_node.perception.instance_points import InstancePoints, instance_points
from memory_node.perception.occlusion import partly_hidden, touches_border
from memory_node.perception.oriented_box import fit_oriented_box

_IDENTITY = np.eye(3)


class PerceptionPipeline:
    """Turns detections and depth into observations in the map frame. Holds no state between frames."""

    def __init__(self, config: PerceptionConfig | None = None) -> None:
        self.config = config or PerceptionConfig()

    def observe(
        self,
        stamp_ns: int,
        map_T_camera: Pose,
        intrinsics: Intrinsics,
        depth_m: NDArray[np.float32],
        detections: Sequence[Detection] = (),
        labels: NDArray[np.integer] | None = None,
        color: NDArray[np.uint8] | None = None,
        complete: bool = True,
        keyframe: str = "",
        relief: Callable[[], Relief] | None = None,
    ) -> Frame:
        """Return the frame of an RGB-D image with its detections.

        depth_m: (height, width), 0 or NaN no return. labels: (height, width) instance image that the detections
        number into; without detections every instance of it is an observation without a class. color: RGB (height,
        width, 3) or None.
        complete: the detector looked at the whole image, so that what it did not find counts as absent. relief: gives
        what was worked out of the depth image already; asked for only if a detection has no mask.

        Raises:
            InputSkippedError: images of different size ("image_size").
        """
        shape = depth_m.shape
        if (labels is not None and labels.shape != shape) or (color is not None and color.shape[:2] != shape):
            raise InputSkippedError("image_size", f"depth {shape} and colour or labels differ in size")
        labels, by_number = _numbered(labels, detections, depth_m, intrinsics, relief)
        observations: tuple[ObjectObservation, ...] = ()
        if labels is not None:
            observations = self._observations(labels, by_number, depth_m, color, intrinsics, map_T_camera)
        return Frame(stamp_ns, map_T_camera, intrinsics, observations, depth_m, complete, keyframe, color=color)

    def observe_3d(
        self, stamp_ns: int, map_T_sensor: Pose, detections: Sequence[Detection3D], keyframe: str = ""
    ) -> Frame:
        """Return the frame of detections that came with 3D boxes; without depth, absence is not evidence."""
        sigma_m = self.config.pose_sigma_m
        floor = np.eye(3) * sigma_m**2
        rotation = map_T_sensor.matrix[:3, :3]
        observations = tuple(
            ObjectObservation(
                detection.class_scores,
                detection.box.moved_by(map_T_sensor),
                floor + (rotation @ detection.covariance @ rotation.T if detection.covariance is not None else 0.0),
                embedding=detection.embedding,
                states=detection.states,
            )
            for detection in detections
        )
        return Frame(stamp_ns, map_T_sensor, None, observations, None, False, keyframe)

    def _observations(
        self,
        labels: NDArray[np.integer],
        by_number: Mapping[int, Detection] | None,
        depth_m: NDArray[np.float32],
        color: NDArray[np.uint8] | None,
        intrinsics: Intrinsics,
        map_T_camera: Pose,
    ) -> tuple[ObjectObservation, ...]:
        instances = instance_points(labels, depth_m, intrinsics, self.config)
        if not instances:
            return ()
        matrix = map_T_camera.matrix
        hidden = partly_hidden(labels, depth_m, self.config)
        observations = []
        for instance in instances:
            detection = None if by_number is None else by_number.get(instance.label)
            if by_number is not None and detection is None:
                continue
            place = instance.columns, instance.rows
            cut = touches_border(instance, (depth_m.shape[0], depth_m.shape[1]), self.config)
            tracked = detection is not None and bool(detection.track)
            observations.append(
                ObjectObservation(
                    detection.class_scores if detection else {},
                    self._box(instance, detection, matrix, intrinsics),
                    self._covariance(instance, matrix[:3, :3]),
                    instance.pixels,
                    not tracked and (cut or instance.label in hidden),
                    detection.embedding if detection else None,
                    bytes if color is None else Crop(color, *place, self.config),
                    detection.states if detection else (),
                    track=detection.track if detection else "",
                    views=detection.views if detection else 1,
                    at_pixels=(*place[0], *place[1]),
                )
            )
        return tuple(observations)

    def _box(
        self, instance: InstancePoints, detection: Detection | None, matrix: FloatArray, intrinsics: Intrinsics
    ) -> OrientedBox:
        if detection is not None and detection.box is not None:
            return detection.box
        points = instance.points @ matrix[:3, :3].T + matrix[:3, 3]
        return fit_oriented_box(points, self.config.trim, matrix[:3, 3], intrinsics.fy)

    def _covariance(self, instance: InstancePoints, rotation: FloatArray) -> FloatArray:
        """Return the covariance (3, 3) of the box's centre in map: depth noise along the ray, averaged, and the
        pose."""
        x, y, z = instance.points[len(instance.points) // 2].tolist()
        distance = math.sqrt(x * x + y * y + z * z)
        ray = rotation @ np.array([x / distance, y / distance, z / distance])
        depth_sigma = self.config.depth_sigma_m_at_1m * distance**2
        # Neighbouring depth errors go together: a tenth of the points count as independent.
        along = depth_sigma**2 / max(1.0, 0.1 * len(instance.points))
        every_way = self.config.pose_sigma_m**2 + (0.25 * self.config.voxel_m) ** 2
        return _IDENTITY * every_way + along * ray[:, None] * ray


def _numbered(
    labels: NDArray[np.integer] | None,
    detections: Sequence[Detection],
    depth_m: NDArray[np.float32],
    intrinsics: Intrinsics,
    relief: Callable[[], Relief] | None,
) -> tuple[NDArray[np.integer] | None, Mapping[int, Detection] | None]:
    """Return one instance image and the detection of each of its numbers (None: every instance, without a class)."""
    if labels is not None:
        if not detections:
            return labels, None
        return labels, {detection.instance: detection for detection in detections if detection.instance > 0}
    masks = _masks_of(detections, depth_m, intrinsics, relief)
    if not masks:
        return None, {}
    numbers = {index + 1: detection for index, detection in enumerate(detections)}
    return labels_from_masks(masks, (depth_m.shape[0], depth_m.shape[1])), numbers


def _masks_of(
    detections: Sequence[Detection],
    depth_m: NDArray[np.float32],
    intrinsics: Intrinsics,
    relief: Callable[[], Relief] | None = None,
) -> list[NDArray[np.bool_]]:
    """Return each detection's own mask, or one found in its rectangle."""
    boxes = [d.box_px for d in detections if d.mask is None and d.box_px is not None]
    if sum(d.mask is None for d in detections) > len(boxes):
        raise InputSkippedError("label_missing", "a detection numbers into an instance image that did not come")
    known = relief() if relief is not None and boxes else None
    found = iter(masks_in_boxes(depth_m, intrinsics, boxes, known))
    return [d.mask if d.mask is not None else next(found) for d in detections]
