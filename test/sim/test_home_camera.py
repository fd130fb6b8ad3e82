"""The camera sees what is there, and what is wrong with its pictures is what was asked for."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from box_world import looking

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.skill import SkillCall
from memory_node.sim.camera import SAME_VIEWS, Camera, FrameClock
from memory_node.sim.home_file import load_home
from memory_node.sim.noise import DetectionNoise, noisy_depth
from memory_node.sim.robot import HomeRobot
from memory_node.sim.shapes import SHAPES, Look, shape_mesh
from memory_node.sim.thing import load_types

SMALL = Intrinsics(96.25, 96.25, 79.5, 59.5, 160, 120)
MEDIUM = Intrinsics(192.5, 192.5, 159.5, 119.5, 320, 240)


@pytest.fixture(scope="module", autouse=True)
def _open3d() -> None:
    pytest.importorskip("open3d", exc_type=ImportError)


@pytest.fixture
def robot() -> HomeRobot:
    return HomeRobot(load_home("studio"))


def seen_classes(camera: Camera, robot: HomeRobot) -> set[str]:
    frame = camera.capture(robot.body.camera, 1)
    return {max(d.class_scores, key=lambda name: d.class_scores[name]) for d in frame.detections}


def test_every_declared_class_can_be_drawn_within_its_size() -> None:
    for one in load_types():
        assert one.looks.shape in SHAPES, one.name
        half = 0.5 * np.array(one.size_m)
        mesh = shape_mesh(
            one.looks.shape, Look(half, np.array(one.looks.colour) / 255.0, one.kind.levels, is_closed=True)
        )
        # handles of doors and drawers stand out a little
        assert (np.abs(mesh.vertices) <= half + 0.04).all(), one.name
        assert mesh.triangles.max() < len(mesh.vertices)


def test_depth_is_the_distance_along_the_optical_axis(robot: HomeRobot) -> None:
    # Looking level at the west wall (inner face at x = 0.05) from x = 2.0, straight and at 45 degrees.
    camera = Camera(robot.world, SMALL, noise=DetectionNoise.none())
    for yaw in (np.pi, np.pi + 0.25 * np.pi):
        optical = Pose.from_matrix(
            Pose.planar(2.0, 2.0, yaw, 2.2).matrix
            @ np.array([[0, 0, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]])
        )
        _, depth, _ = camera.render(optical)
        assert depth[59, 79] == pytest.approx((2.0 - 0.05) / abs(np.cos(yaw)), abs=0.03)


def test_open_door_shows_what_is_inside(robot: HomeRobot) -> None:
    camera = Camera(robot.world, noise=DetectionNoise.none())
    assert robot.execute(SkillCall("GoToObject", ("fridge",))).success
    assert "Fridge" in seen_classes(camera, robot)
    assert "Tomato" not in seen_classes(camera, robot)
    assert robot.execute(SkillCall("OpenObject", ("fridge",))).success
    robot.body.move(Pose.planar(0.6, 1.9, -0.5 * np.pi))
    assert "Tomato" in seen_classes(camera, robot)


def test_picture_follows_the_moved_apple(robot: HomeRobot) -> None:
    camera = Camera(robot.world, noise=DetectionNoise.none())
    robot.execute(SkillCall("GoToObject", ("apple",)))
    assert "Apple" in seen_classes(camera, robot)
    robot.world.destroy(robot.world["apple"])
    assert "Apple" not in seen_classes(camera, robot)


def test_labels_and_depth_agree_with_the_world(robot: HomeRobot) -> None:
    camera = Camera(robot.world, noise=DetectionNoise.none())
    robot.execute(SkillCall("GoToObject", ("bowl",)))
    frame = camera.capture(robot.body.camera, 1)
    bowl = next(d for d in frame.detections if "Bowl" in d.class_scores)
    rows, columns = np.nonzero(frame.instances == bowl.instance)
    z = frame.depth_m[rows, columns]
    k = frame.intrinsics
    points = frame.map_T_camera.apply(np.column_stack([(columns - k.cx) / k.fx * z, (rows - k.cy) / k.fy * z, z]))
    assert robot.world["bowl"].box.contains(points, margin_m=0.01).mean() > 0.99


def test_depth_noise_grows_with_distance_and_edges_are_lost() -> None:
    noise = DetectionNoise()
    rng = np.random.default_rng(0)
    depth = np.full((200, 200), 1.0, np.float32)
    depth[:, 100:] = 3.0
    depth[:, 199] = np.inf
    measured = noisy_depth(depth, noise, rng)
    assert np.nanstd(measured[:, :95]) == pytest.approx(0.0015, rel=0.1)
    assert np.nanstd(measured[:, 105:195]) == pytest.approx(9 * 0.0015, rel=0.1)
    assert np.isnan(measured[:, 199]).all()
    assert 0.3 < np.isnan(measured[:, 99:101]).mean() < 0.7


def test_detector_misses_and_confuses_as_often_as_asked(robot: HomeRobot) -> None:
    camera = Camera(robot.world, SMALL, seed=2)
    robot.execute(SkillCall("GoToObject", ("sink",)))
    exact = Camera(robot.world, SMALL, noise=DetectionNoise.none()).capture(robot.body.camera, 1)
    true_class = {d.instance: next(iter(d.class_scores)) for d in exact.detections}
    reported = confused = 0
    frames = 120
    for _ in range(frames):
        for detection in camera.capture(robot.body.camera, 1).detections:
            if detection.instance in true_class:
                reported += 1
                best = max(detection.class_scores, key=lambda name: detection.class_scores[name])
                confused += best != true_class[detection.instance]
    noise = DetectionNoise()
    assert reported / (frames * len(true_class)) == pytest.approx(1.0 - noise.miss_probability, abs=0.04)
    assert 0.0 < confused / reported < 2.5 * noise.class_confusion_probability


def test_same_seed_gives_the_same_picture(robot: HomeRobot) -> None:
    first = Camera(robot.world, SMALL, seed=5).capture(robot.body.camera, 1)
    second = Camera(robot.world, SMALL, seed=5).capture(robot.body.camera, 1)
    np.testing.assert_array_equal(first.depth_m, second.depth_m)
    assert [d.class_scores for d in first.detections] == [d.class_scores for d in second.detections]


def test_missing_open3d_is_explained(robot: HomeRobot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open3d", None)
    with pytest.raises(ResourceMissingError, match=r"libusb-1\.0-0"):
        Camera(robot.world)


@pytest.mark.parametrize(
    ("container", "content", "aside_m", "above_m"),
    [("night_drawer", "Watch", 0.6, 0.6), ("hamper", "Cloth", 0.4, 1.1), ("fridge", "Tomato", 0.9, 0.4)],
)
def test_closed_furniture_hides_its_contents_from_every_side(
    container: str, content: str, aside_m: float, above_m: float
) -> None:
    world = load_home("apartment")
    camera = Camera(world, MEDIUM, noise=DetectionNoise.none())
    hidden = world[container].box.center

    def seen() -> bool:
        found = False
        for angle in np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False):
            eye = hidden + np.array([aside_m * np.cos(angle), aside_m * np.sin(angle), above_m])
            frame = camera.capture(looking(eye, world[container].box.center), 1)
            found |= any(content in detection.class_scores for detection in frame.detections)
        return found

    assert not seen()
    world.set_open(world[container], True)
    assert seen()


def test_view_that_has_not_changed_is_cast_once(robot: HomeRobot, monkeypatch: pytest.MonkeyPatch) -> None:
    camera = Camera(robot.world, SMALL, seed=1)
    cast: list[Pose] = []
    monkeypatch.setattr(camera, "_cast", lambda pose, real=camera._cast: cast.append(pose) or real(pose))
    first, second = (camera.capture(robot.body.camera, stamp_ns) for stamp_ns in (1, 2))
    assert len(cast) == 1
    assert (first.color == second.color).all()
    assert not np.array_equal(first.depth_m, second.depth_m, equal_nan=True), "noise is new in each"
    moved = next(thing for thing in robot.world if thing.class_name == "Apple")
    robot.world.move(moved, moved.box.center + np.array([0.05, 0.0, 0.0]), 0.0)
    camera.capture(robot.body.camera, 3)
    camera.capture(Pose.planar(1.0, 1.0, 0.5, 1.2), 4)
    assert len(cast) == 3


def taken_in(clock: FrameClock, seconds: int, view: str) -> int:
    """Return how many pictures are taken of a view in so many seconds, asked ten times a second."""
    count = 0
    for _ in range(10 * seconds):
        clock.pass_time(0.1)
        count += clock.is_due(view)
    return count


def test_still_view_is_shown_at_the_low_rate_after_some_pictures() -> None:
    clock = FrameClock(0.5, 4.0)
    assert taken_in(clock, 5, "kitchen") == SAME_VIEWS
    assert taken_in(clock, 40, "kitchen") == 10


def test_new_view_is_shown_at_once_and_at_the_full_rate() -> None:
    clock = FrameClock(0.5, 4.0)
    taken_in(clock, 30, "kitchen")
    clock.pass_time(0.5)
    assert clock.is_due("hall")
    assert taken_in(clock, 4, "hall") == 8


def test_low_rate_above_the_full_one_has_no_effect() -> None:
    assert taken_in(FrameClock(2.0, 0.1), 60, "kitchen") == 30


def test_one_view_is_shown_once_a_real_second_however_fast_time_runs() -> None:
    clock = FrameClock(0.5, 4.0, speed=40.0)
    assert taken_in(clock, 5, "kitchen") == SAME_VIEWS
    assert taken_in(clock, 401, "kitchen") == 10
    assert taken_in(clock, 4, "hall") == 8
