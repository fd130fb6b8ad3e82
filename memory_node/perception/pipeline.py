"""One call from a camera's images to the frame that the scene graph takes."""

from __future__ import annotations

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
from memory_node.perception.instance_points import InstancePoints, counted_through, fit_oriented_box, instance_points


def partly_hidden(labels: NDArray[np.integer], depth_m: NDArray[np.float32], config: PerceptionConfig) -> set[int]:
    """Return the instances of an image (height, width) that something hides a part of.

    Hidden is an outline, or the foot alone, across which the neighbour is nearer, and an upper edge against another
    thing that is not farther: what stands on a table hides where the table ends. What is on both sides, behind and
    before, carries the thing: behind a flat thing it is hardly farther.
    """
    stride = config.pixel_stride
    width = len(labels[0, ::stride])
    number, depth = labels[::stride, ::stride].ravel(), depth_m[::stride, ::stride].ravel()
    count = int(number.max()) + 1
    across = np.flatnonzero(number[:-1] != number[1:])
    left, right, z_left, z_right = _sides(number, depth, across[(across + 1) % width != 0], 1)
    upper, lower, z_upper, z_lower = _sides(number, depth, np.flatnonzero(number[:-width] != number[width:]), width)
    with np.errstate(invalid="ignore"):
        hidden = [
            left[z_right < z_left - _margin(z_left, config)],
            right[z_left < z_right - _margin(z_right, config)],
            lower[z_upper < z_lower - _margin(z_lower, config)],
            # Below an object the support gets nearer with every row, faster in a flat view.
            upper[z_lower < z_upper - config.occlusion_margin_m * np.maximum(1.0, z_upper)],
        ]
        is_covered = (upper > 0) & (z_upper < z_lower + _margin(z_lower, config))
    covered = lower[is_covered & ~_is_on(lower, upper, upper, lower, count)]
    outline = _counts([left, right, upper, lower], count)
    share = _counts(hidden, count) / np.maximum(outline, 1)
    top_share = _counts([covered], count) / np.maximum(_counts([lower], count), 1)
    foot_share = _counts(hidden[3:], count) / np.maximum(_counts([upper], count), 1)
    found = (share > config.occluded_share) | (np.maximum(top_share, foot_share) > config.covered_share)
    return set(np.flatnonzero(found).tolist()) - {0}


def touches_border(instance: InstancePoints, shape: tuple[int, int], config: PerceptionConfig) -> bool:
    """Return whether the mask reaches the border of an image (height, width)."""
    border = config.border_px + config.pixel_stride - 1
    height, width = shape
    return bool(
        instance.columns[0] < border
        or instance.rows[0] < border
        or instance.columns[1] >= width - border
        or instance.rows[1] >= height - border
    )


def _sides(
    number: NDArray[np.integer], depth: NDArray[np.float32], edges: NDArray[np.intp], apart: int
) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float32], NDArray[np.float32]]:
    """Return the numbers and the depths on both sides of outlines: of flat pixels (n,) and those `apart` behind."""
    return number[edges], number[edges + apart], depth[edges], depth[edges + apart]


def _is_on(
    thing: NDArray[np.integer],
    behind: NDArray[np.integer],
    above: NDArray[np.integer],
    below: NDArray[np.integer],
    count: int,
) -> NDArray[np.bool_]:
    """Return for pairs (n,) of a thing and what is behind it whether the same is before most of the thing's foot, too.

    above, below: what is on both sides of every edge (m,) that is crossed downwards. count: of instances.
    """
    pairs, often = np.unique(above.astype(np.int64) * count + below, return_counts=True)
    foot = np.bincount(above, minlength=count)
    ground = pairs[often > 0.5 * foot[pairs // count]]
    return np.isin(thing.astype(np.int64) * count + behind, ground)


def _margin(depth: NDArray[np.float32], config: PerceptionConfig) -> NDArray[np.floating]:
    """Return by how much a neighbour must be nearer than a depth to hide it: half the configured margin, and noise."""
    return 0.5 * config.occlusion_margin_m + 3.0 * config.depth_sigma_m_at_1m * depth**2


def _counts(numbers: list[NDArray[np.integer]], count: int) -> NDArray[np.intp]:
    return np.bincount(np.concatenate(numbers), minlength=count)


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
        labels, names = counted_through(labels)
        instances = instance_points(labels, depth_m, intrinsics, self.config)
        if not instances:
            return ()
        matrix = map_T_camera.matrix
        covariances = self._covariances(instances, matrix[:3, :3])
        hidden = partly_hidden(labels, depth_m, self.config)
        observations = []
        for instance, covariance in zip(instances, covariances):
            number = instance.label if names is None else names[instance.label]
            detection = None if by_number is None else by_number.get(number)
            if by_number is not None and detection is None:
                continue
            place = instance.columns, instance.rows
            cut = touches_border(instance, (depth_m.shape[0], depth_m.shape[1]), self.config)
            tracked = detection is not None and bool(detection.track)
            observations.append(
                ObjectObservation(
                    detection.class_scores if detection else {},
                    self._box(instance, detection, matrix, intrinsics),
                    covariance,
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
        points = matrix[:3, :3] @ instance.points.T + matrix[:3, 3, None]
        return fit_oriented_box(points.T, self.config.trim, matrix[:3, 3], intrinsics.fy)

    def _covariances(self, instances: Sequence[InstancePoints], rotation: FloatArray) -> FloatArray:
        """Return the covariances (n, 3, 3) of the boxes' centres in map: depth noise along the ray, averaged, and the
        pose."""
        middles = np.array([instance.points[len(instance.points) // 2] for instance in instances])
        counts = np.array([len(instance.points) for instance in instances])
        squared_distance = (middles**2).sum(axis=1)
        rays = middles / np.sqrt(squared_distance)[:, None] @ rotation.T
        depth_sigma = self.config.depth_sigma_m_at_1m * squared_distance
        # Neighbouring depth errors go together: a tenth of the points count as independent.
        along = depth_sigma**2 / np.maximum(1.0, 0.1 * counts)
        every_way = self.config.pose_sigma_m**2 + (0.25 * self.config.voxel_m) ** 2
        return np.asarray(_IDENTITY * every_way + along[:, None, None] * rays[:, :, None] * rays[:, None, :])


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
