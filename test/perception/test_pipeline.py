"""Masks, rectangles and 3D boxes become observations in the map frame."""

from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.detection import Detection, Detection3D
from memory_node.perception.pipeline import PerceptionPipeline, partly_hidden


@pytest.fixture
def pipeline() -> PerceptionPipeline:
    return PerceptionPipeline(PerceptionConfig())


@pytest.mark.parametrize("yaw_deg", [0, 30, 45])
def test_label_image_gives_true_boxes_with_classes(
    pipeline: PerceptionPipeline, render: Any, box: Any, yaw_deg: float
) -> None:
    boxes = [box(-0.2, 0, 0, (0.15, 0.1, 0.2), yaw_deg), box(0.2, 0.05, 0, (0.2, 0.08, 0.1), -yaw_deg)]
    depth, number, map_T_camera, camera = render(boxes)
    detections = [Detection({"box": 0.8}, instance=1), Detection({"carton": 0.7}, instance=2)]
    frame = pipeline.observe(5, map_T_camera, camera, depth, detections, labels=number)
    assert [o.best_class for o in frame.observations] == ["box", "carton"]
    for seen, true in zip(frame.observations, boxes):
        assert seen.box.center == pytest.approx(true.center, abs=0.012)
        assert np.sort(seen.box.size) == pytest.approx(np.sort(true.size), abs=0.02)
        assert not seen.truncated
        assert np.sqrt(seen.covariance.diagonal()).max() < 0.03


def test_background_in_the_mask_does_not_move_the_box(pipeline: PerceptionPipeline, render: Any, box: Any) -> None:
    true = box(0, -0.2, 0.2, (0.1, 0.1, 0.1), 45)
    depth, number, map_T_camera, camera = render([true])
    sloppy = cv2.dilate((number == 1).astype(np.uint8), np.ones((13, 13))) > 0
    frame = pipeline.observe(1, map_T_camera, camera, depth, [Detection({"box": 1.0}, mask=sloppy)])
    assert frame.observations[0].box.center == pytest.approx(true.center, abs=0.02)


def test_hidden_and_cut_objects_are_marked(pipeline: PerceptionPipeline, render: Any, box: Any) -> None:
    depth, number, map_T_camera, camera = render(
        [box(0, 0.1, 0, (0.2, 0.1, 0.1)), box(0.05, -0.15, 0, (0.1, 0.05, 0.25)), box(0.62, 0.1, 0, (0.4, 0.1, 0.1))]
    )
    frame = pipeline.observe(1, map_T_camera, camera, depth, labels=number)
    assert [o.truncated for o in frame.observations] == [True, False, True]


def test_rectangle_without_mask_takes_the_surface_in_its_middle(
    pipeline: PerceptionPipeline, render: Any, box: Any
) -> None:
    true = box(0, -0.1, 0.15, (0.12, 0.12, 0.12))
    depth, number, map_T_camera, camera = render([true])
    rows, columns = np.nonzero(number)
    rectangle = (columns.min() - 4.0, rows.min() - 4.0, columns.max() + 4.0, rows.max() + 4.0)
    frame = pipeline.observe(1, map_T_camera, camera, depth, [Detection({"box": 1.0}, box_px=rectangle)])
    assert frame.observations[0].box.center == pytest.approx(true.center, abs=0.02)


def test_crop_shows_the_object_in_color(pipeline: PerceptionPipeline, render: Any, box: Any) -> None:
    depth, number, map_T_camera, camera = render([box(0, 0, 0, (0.2, 0.2, 0.2))])
    color = np.zeros((480, 640, 3), np.uint8)
    color[number == 1] = (220, 30, 10)
    frame = pipeline.observe(1, map_T_camera, camera, depth, labels=number, color=color)
    crop = cv2.imdecode(np.frombuffer(frame.observations[0].crop(), np.uint8), cv2.IMREAD_COLOR)
    assert max(crop.shape) <= pipeline.config.crop_max_px
    assert crop[crop.shape[0] // 2, crop.shape[1] // 2].astype(int) == pytest.approx([10, 30, 220], abs=25)


def test_no_depth_in_a_mask_is_no_observation(pipeline: PerceptionPipeline) -> None:
    labels = np.zeros((48, 64), int)
    labels[10:30, 10:30] = 1
    camera = Intrinsics(50, 50, 32, 24, 64, 48)
    for depth in (np.zeros((48, 64), np.float32), np.full((48, 64), np.nan, np.float32)):
        assert pipeline.observe(1, Pose(), camera, depth, labels=labels).observations == ()


def test_images_of_different_size_are_skipped(pipeline: PerceptionPipeline) -> None:
    camera = Intrinsics(50, 50, 32, 24, 64, 48)
    with pytest.raises(InputSkippedError) as error:
        pipeline.observe(1, Pose(), camera, np.ones((48, 64), np.float32), labels=np.ones((24, 32), int))
    assert error.value.reason == "image_size"


def test_3d_detections_turn_with_the_sensor(pipeline: PerceptionPipeline) -> None:
    detection = Detection3D(
        {"cup": 0.9}, OrientedBox(np.array([1.0, 0, 0]), np.array([0.2, 0.1, 0.1]), 0.1), np.diag([0.01, 0, 0])
    )
    frame = pipeline.observe_3d(1, Pose.planar(1, 1, np.pi / 4), [detection])
    (seen,) = frame.observations
    assert seen.box.center == pytest.approx([1 + np.sqrt(0.5), 1 + np.sqrt(0.5), 0])
    assert seen.box.yaw_rad == pytest.approx(np.pi / 4 + 0.1)
    assert seen.covariance[0, 1] == pytest.approx(0.005)
    assert (frame.depth_m, frame.complete) == (None, False)


def test_detection_that_shows_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="a box, a mask or an instance"):
        Detection({"cup": 0.5})


TABLE, THING = 1, 2
FOCAL_PX, ROW_0 = 316.0, 100


def table_below(camera_m: float) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return labels and depth (240, 320) of a table that ends at 1.2 m, `camera_m` below a level camera."""
    below = np.arange(240, dtype=np.float64)[:, None] + ROW_0
    depth = np.broadcast_to(camera_m * FOCAL_PX / below, (240, 320)).astype(np.float32)
    on_table = depth <= 1.2
    return np.where(on_table, TABLE, 0).astype(np.int32), np.where(on_table, depth, 4.0).astype(np.float32)


def lay(labels: NDArray[np.int32], depth: NDArray[np.float32], high_m: float, camera_m: float) -> None:
    """Lay a thing of a height on the table, from 0.7 to 0.85 m."""
    below = np.arange(240, dtype=np.float64)[:, None] + ROW_0
    top = np.broadcast_to((camera_m - high_m) * FOCAL_PX / below, depth.shape)
    there = (top >= 0.7) & (top <= 0.85)
    there[:, :120] = there[:, 160:] = False
    labels[there], depth[there] = THING, top[there]


@pytest.mark.parametrize("high_m", [0.005, 0.014, 0.03])
def test_flat_thing_on_a_table_is_not_hidden_by_the_table_behind_it(high_m: float) -> None:
    labels, depth = table_below(0.45)
    lay(labels, depth, high_m, 0.45)
    assert THING not in partly_hidden(labels, depth, PerceptionConfig())


def test_thing_behind_something_nearer_is_hidden() -> None:
    labels, depth = table_below(0.45)
    lay(labels, depth, 0.014, 0.45)
    rows, columns = np.nonzero(labels == THING)
    before = (slice((rows.min() + rows.max()) // 2, 240), slice(columns.min(), columns.max() + 1))
    labels[before], depth[before] = 3, 0.5
    assert THING in partly_hidden(labels, depth, PerceptionConfig())


def test_what_stands_along_the_far_edge_hides_where_the_table_ends() -> None:
    labels, depth = table_below(0.45)
    first = int(np.argmax((labels == TABLE).any(axis=1)))
    labels[: first + 4], depth[: first + 4] = THING, depth[first + 4, 0]
    assert TABLE in partly_hidden(labels, depth, PerceptionConfig())


def test_instances_numbered_by_hashes_are_seen_as_those_numbered_through() -> None:
    labels, depth = table_below(0.45)
    lay(labels, depth, 0.1, 0.45)
    number_of = {TABLE: 1_702_887_913, THING: 2**31 - 1}
    hashes = np.vectorize(lambda label: number_of.get(label, 0), otypes=[np.int32])(labels)
    by_class = {"Table": TABLE, "Mug": THING}
    plain, hashed = (
        PerceptionPipeline().observe(
            1,
            Pose(),
            Intrinsics(FOCAL_PX, FOCAL_PX, 160.0, 0.0, 320, 240),
            depth,
            [Detection({name: 0.9}, instance=number[label]) for name, label in by_class.items()],
            image,
        )
        for image, number in ((labels, {TABLE: TABLE, THING: THING}), (hashes, number_of))
    )
    assert [one.best_class for one in hashed.observations] == ["Table", "Mug"]
    for one, other in zip(plain.observations, hashed.observations):
        np.testing.assert_allclose(one.box.center, other.box.center)
        assert one.truncated == other.truncated
