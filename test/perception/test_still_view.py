"""A camera that stands still is looked at now and then, and within 0.15 s when anything in its view is new."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.domain.geometry import Pose
from memory_node.perception.still_view import StillView

HEIGHT, WIDTH = 240, 320
FRAME_NS = 33_333_333
SETTLED = 120  # frames after which a view has come to rest
LATE = 4  # frames after which at the latest what is new is seen
Picture = tuple[NDArray[np.uint8], NDArray[np.float32]]


@functools.cache
def noises() -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Return noise of depth (h, w) at 1 m and of colours (h, w, 3), for some pictures; some pixels have no return."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(41):
        of_depth = rng.normal(0.0, 0.0015, (HEIGHT, WIDTH)).astype(np.float32)
        of_depth[rng.random(of_depth.shape) < 0.002] = np.nan
        made.append((of_depth, rng.normal(0.0, 2.0, (HEIGHT, WIDTH, 3)).astype(np.float32)))
    return made


class Scene:
    """A slanted wall with boxes of some pixels a side, seen by a camera with noise.

    boxes: row, column, pixels a side, height over the wall in metres, brightness or colour.
    """

    def __init__(self) -> None:
        self._noise = noises()
        self.boxes: dict[str, tuple[int, int, int, float, int | tuple[int, ...]]] = {"cup": (80, 120, 24, 0.08, 160)}
        self.pose = Pose.planar(1.0, 2.0, np.pi / 4)
        self.number = 0

    def picture(self) -> Picture:
        depth = np.broadcast_to(np.linspace(2.8, 1.6, HEIGHT, dtype=np.float32)[:, None], (HEIGHT, WIDTH)).copy()
        color = np.full((*depth.shape, 3), 110.0, np.float32)
        for row, column, side, height_m, level in self.boxes.values():
            window = slice(row, row + side), slice(column, column + side)
            depth[window] -= height_m
            color[window] = level
        of_depth, of_color = self._noise[self.number % len(self._noise)]
        return (color + of_color).astype(np.uint8), depth + of_depth * depth**2

    def shows(self, view: StillView, frames: int = 1, step_ns: int = FRAME_NS) -> list[bool]:
        """Return for each of some frames whether it is wanted."""
        wanted = []
        for _ in range(frames):
            stamp_ns = self.number * step_ns
            wanted.append(view.rest_s(stamp_ns) == 0.0 and view.is_wanted(stamp_ns, self.pose, *self.picture()))
            if wanted[-1]:
                view.used(stamp_ns)
            self.number += 1
        return wanted

    def is_seen(self, view: StillView) -> bool:
        """Return whether what has just changed is seen in time, and looked at with each frame from then on."""
        wanted = self.shows(view, 20)
        return all(wanted[wanted.index(True) :]) and True in wanted[: LATE + 1]


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
def view(scene: Scene) -> StillView:
    made = StillView(1.0)  # no frame is used in time because the period is over
    scene.shows(made, SETTLED)
    return made


def test_view_that_comes_before_the_one_before_it_was_compared_waits_for_that(scene: Scene) -> None:
    view, picture = StillView(10.0), scene.picture()
    for stamp_ns in (0, FRAME_NS, 10**9):
        assert view.is_wanted(stamp_ns, scene.pose, *picture)
        view.used(stamp_ns)
    assert view.rest_s(10**9 + FRAME_NS) == 0.0
    assert view.rest_s(10**9 + 2 * FRAME_NS) == 0.0, "the view before it, looked at still, may show something new"
    assert not view.is_wanted(10**9 + 2 * FRAME_NS, scene.pose, *picture)
    assert view.rest_s(10**9 + 3 * FRAME_NS) > 0.0


def test_view_that_comes_while_another_is_compared_waits_for_what_that_shows(scene: Scene) -> None:
    class Color(np.ndarray[Any, Any]):
        @property  # type: ignore[misc]
        def shape(self) -> Any:
            at_rest.append(view.rest_s(now_ns + FRAME_NS) > 0.0)
            return super().shape

    view, at_rest = StillView(10.0), list[bool]()
    assert not any(scene.shows(view, SETTLED)[-10:])
    now_ns = SETTLED * FRAME_NS + 10**8
    scene.boxes["bowl"] = (150, 200, 24, 0.08, 200)
    color, depth_m = scene.picture()
    assert view.is_wanted(now_ns, scene.pose, color.view(Color), depth_m)
    assert at_rest
    assert not any(at_rest)


def test_noise_is_nothing_new(scene: Scene, view: StillView) -> None:
    wanted = scene.shows(view, 150)
    assert sum(wanted) == 5
    # No two of them are further apart than the period.
    assert max(np.diff(np.flatnonzero(wanted))) == 30


def test_first_view_is_wanted_and_those_until_memory_has_settled() -> None:
    wanted = Scene().shows(StillView(10.0), 60)
    assert wanted == [True] * 21 + [False] * 39, "twenty from the first whose camera is known to stand"


def test_views_are_wanted_for_a_second_where_few_come(scene: Scene) -> None:
    view = StillView(10.0)
    assert scene.shows(view, 14, step_ns=100_000_000) == [True] * 12 + [False] * 2


def test_a_slow_camera_is_looked_at_with_each_frame(scene: Scene) -> None:
    assert all(scene.shows(StillView(0.2), 20, step_ns=200_000_000))


@pytest.mark.parametrize("rate_hz", [7, 10, 15, 24, 30, 60, 90])
def test_views_at_rest_are_compared_seldom_but_never_too_late(scene: Scene, rate_hz: int) -> None:
    view, step_ns, compared_ns = StillView(10.0), 10**9 // rate_hz, list[int]()
    rests_until_ns = 0
    for stamp_ns in range(0, 5 * 10**9, step_ns):
        rest_s = view.rest_s(stamp_ns)
        if rest_s == 0.0:
            assert stamp_ns >= rests_until_ns, "it was said that none would be compared for longer"
            compared_ns.append(stamp_ns)
            if view.is_wanted(stamp_ns, scene.pose, *scene.picture()):
                view.used(stamp_ns)
        rests_until_ns = stamp_ns + int(rest_s * 1e9)
        scene.number += 1
    apart_ns = np.diff(compared_ns)[-10:]
    assert max(apart_ns) <= max(150_000_000, step_ns)
    assert min(apart_ns) > 150_000_000 - 2 * step_ns


CHANGES: dict[str, dict[str, tuple[int, int, int, float, int | tuple[int, ...]] | None]] = {
    "something small appears": {"new": (141, 203, 10, 0.06, 150)},
    "something large appears": {"new": (141, 203, 40, 0.06, 150)},
    "the cup vanishes": {"cup": None},
    "the cup moves by a little": {"cup": (80, 126, 24, 0.08, 160)},
    "flat, of another brightness": {"sheet": (40, 40, 40, 0.0, 140)},
    "flat, of the wall's brightness in another color": {"red sheet": (40, 40, 40, 0.0, (150, 90, 110))},
    "of the wall's brightness, before it": {"white cup on white": (180, 40, 30, 0.06, 110)},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_seen_at_once(scene: Scene, view: StillView, change: str) -> None:
    boxes = {**scene.boxes, **CHANGES[change]}
    scene.boxes = {name: box for name, box in boxes.items() if box is not None}
    assert scene.is_seen(view)


def test_a_second_change_in_the_same_place_is_seen_too(scene: Scene, view: StillView) -> None:
    cup = scene.boxes.pop("cup")
    scene.shows(view, SETTLED)
    scene.boxes["cup"] = cup
    assert scene.is_seen(view)


def test_rest_returns_after_a_change(scene: Scene, view: StillView) -> None:
    del scene.boxes["cup"]
    scene.shows(view, SETTLED)
    assert sum(scene.shows(view, 60)) == 2


def test_what_flickers_comes_to_rest(scene: Scene, view: StillView) -> None:
    wanted = []
    for number in range(300):
        scene.boxes["screen"] = (20, 240, 64, 0.02, 100 + 90 * (number % 2))
        wanted += scene.shows(view)
    assert all(wanted[LATE:20])
    assert sum(wanted[-60:]) == 2


@pytest.mark.parametrize("step", [Pose.planar(0.02, 0.0, 0.0), Pose.planar(0.0, 0.0, 0.01)])
def test_camera_that_moves_is_looked_at_with_each_frame(scene: Scene, view: StillView, step: Pose) -> None:
    wanted = []
    for _ in range(10):
        scene.pose = scene.pose @ step
        wanted += scene.shows(view)
    assert all(wanted[LATE:])


def test_every_view_is_wanted_while_memory_can_use_none(scene: Scene) -> None:
    view = StillView(0.2)
    assert all(view.is_wanted(number * FRAME_NS, scene.pose, *scene.picture()) for number in range(60))


def test_a_clock_that_is_set_back_begins_anew(scene: Scene, view: StillView) -> None:
    scene.number = 0
    assert all(scene.shows(view, 20))


def test_images_of_another_size_begin_anew(scene: Scene, view: StillView) -> None:
    color, depth_m = scene.picture()
    scene.number += 1
    assert view.is_wanted(scene.number * FRAME_NS, scene.pose, color[::2, ::2].copy(), depth_m[::2, ::2].copy())


def test_period_of_zero_wants_everything(scene: Scene) -> None:
    assert all(scene.shows(StillView(0.0), 60))
