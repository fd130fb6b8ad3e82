"""Things without a detector, over time: the segments of many views become one thing each.

A view's segments are matched to things by the voxels that they share. Things that one segment covers again and again
are one; what lies in another thing is a part of it; what is too large, or a large thin sheet, is structure; what too
few views have shown stays provisional.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.perception.config import SegmentationConfig, SegmentTrackerConfig
from memory_node.perception.detection import Detection
from memory_node.perception.instance_points import fit_oriented_box, value_at
from memory_node.perception.segmentation import GeometricSegmenter
from memory_node.perception.voxel_votes import Indices, VoxelVotes

# Focal length to which images are thinned out (pixels): voxels of 3 cm at 4 m then still have a point each.
_FOCAL_PX = 150.0
_FARTHEST_M = 4.0
_LEAST_VOXELS = 8
# A segment belongs to a thing that owns the first share of the segment's voxels, or whose voxels in view it covers by
# the second.
_OF_SEGMENT, _OF_THING = 0.3, 0.5
# Share of the smaller one from which a segment covers a thing.
_COVERED = 0.5
_TRIM = 0.02
# Share of a voxel by which a thing extends beyond the mean point of its outermost voxels.
_BEYOND = 0.25
# A box is turned off the map's axes only if its footprint shrinks to this share or less.
_WORTH_TURNING = 0.8


@dataclass(frozen=True, eq=False)
class TrackedSegments:
    """What a view shows of the things that are known by now.

    labels: (h, w) number of the thing of each pixel, 0 none. detections: one for each of these numbers, with its track
    and its box of all views. ended: tracks that are no things any more, with the one that each became a part of, or "".
    """

    labels: NDArray[np.int32]
    detections: tuple[Detection, ...]
    ended: tuple[tuple[str, str], ...] = ()


@dataclass
class _Thing:
    views: int = 0
    box: OrientedBox | None = None
    low: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    high: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))


class SegmentTracker:
    """Follows segments through the views of one camera. Tracks are named anew by each tracker."""

    def __init__(self, config: SegmentTrackerConfig | None = None, name: str = "") -> None:
        self.config = config or SegmentTrackerConfig()
        self._name = name
        self._votes = VoxelVotes(self.config.voxel_m, self.config.most_voxels)
        self._things: dict[int, _Thing] = {}
        self._shown: set[int] = set()
        self._together: Counter[tuple[int, int]] = Counter()
        self._view = 0
        self._last = 0
        self._became: dict[int, int] = {}

    def track(
        self, labels: NDArray[np.integer], depth_m: NDArray[np.float32], intrinsics: Intrinsics, map_T_camera: Pose
    ) -> TrackedSegments:
        """Take in a view's segments (h, w), numbered from 1, 0 none, of a depth image in metres."""
        self._view += 1
        self._became = {}
        matrix = map_T_camera.matrix
        self._votes.carve(depth_m, intrinsics, map_T_camera.inverse().matrix)
        points, numbers = _points(labels, depth_m, intrinsics, matrix)
        if not len(points):
            return TrackedSegments(np.zeros(depth_m.shape, np.int32), ())
        at, inverse = self._votes.add(points, numbers > 0, self._view)
        number_at = _leading(inverse, numbers, len(at))
        thing_of = self._matched(at, number_at)
        for number, thing in thing_of.items():
            self._votes.own(at[number_at == number], thing)
        self._join_what_is_one()
        thing_of = {number: self._now(thing) for number, thing in thing_of.items()}
        self._measure(set(thing_of.values()))
        ended = self._choose_shown()
        table = np.zeros(int(labels.max()) + 1, np.int32)
        for number, thing in thing_of.items():
            table[number] = thing if thing in self._shown else 0
        drawn = np.asarray(table[labels], np.int32)
        visible = sorted(set(table.tolist()) - {0})
        return TrackedSegments(drawn, tuple(self._detection(thing) for thing in visible), ended)

    def _detection(self, thing: int) -> Detection:
        known = self._things[thing]
        return Detection({}, instance=thing, track=self._track(thing), box=known.box, views=known.views)

    def _track(self, thing: int) -> str:
        return f"{self._name}{thing}"

    def _now(self, thing: int) -> int:
        while thing in self._became:
            thing = self._became[thing]
        return thing

    def _matched(self, at: Indices, number_at: NDArray[np.integer]) -> dict[int, int]:
        """Return the thing of each segment; segments of nothing known are new things."""
        owner = self._votes.owner[at]
        in_view = Counter(owner[owner > 0].tolist())
        sizes = Counter(number_at[number_at > 0].tolist())
        thing_of: dict[int, int] = {}
        for number, size in sorted(sizes.items(), key=lambda entry: (-entry[1], entry[0])):
            if size < _LEAST_VOXELS:
                continue
            shared = Counter(owner[(number_at == number) & (owner > 0)].tolist())
            likely = [t for t, n in shared.items() if n >= _OF_SEGMENT * size or n >= _OF_THING * in_view[t]]
            likely.sort(key=lambda thing: (-shared[thing], thing))
            if not likely:
                self._last += 1
                self._things[self._last] = _Thing()
                likely = [self._last]
            thing_of[number] = first = likely[0]
            for other in likely[1:]:
                if shared[other] >= max(_LEAST_VOXELS, _COVERED * min(size, in_view[other])):
                    self._together[(min(first, other), max(first, other))] += 1
        seen = sorted(set(thing_of.values()))
        for thing in seen:
            self._things[thing].views += 1
        self._see_apart(seen)
        return thing_of

    def _see_apart(self, seen: list[int]) -> None:
        """Count the view against pairs that it shows as two."""
        present = set(seen)
        for pair in [pair for pair in self._together if pair[0] in present and pair[1] in present]:
            self._together[pair] -= 1
            if self._together[pair] < -self.config.joined_views:
                self._together[pair] = -self.config.joined_views

    def _join_what_is_one(self) -> None:
        for pair, views in sorted(self._together.items()):
            kept, ended = self._now(pair[0]), self._now(pair[1])
            if views < self.config.joined_views or kept == ended:
                continue
            self._votes.join(kept, ended)
            self._things[kept].views = max(self._things[kept].views, self._things.pop(ended).views)
            self._became[ended] = kept
        if self._became:
            renamed: Counter[tuple[int, int]] = Counter()
            for pair, views in self._together.items():
                one, other = sorted((self._now(pair[0]), self._now(pair[1])))
                if one != other:
                    renamed[(one, other)] += views
            self._together = renamed

    def _measure(self, things: set[int]) -> None:
        """Measure the boxes of things anew from all that is known of them."""
        votes, config = self._votes, self.config
        mine = np.zeros(self._last + 1, bool)
        mine[list(things)] = True
        at = np.flatnonzero(votes.of_things(config.least_votes) & mine[votes.owner])
        order = np.argsort(votes.owner[at], kind="stable")
        numbers, first = np.unique(votes.owner[at][order], return_index=True)
        voxels = dict(zip(numbers.tolist(), np.split(at[order], first[1:])))
        for thing in sorted(things):
            known = self._things[thing]
            own = voxels.get(thing)
            known.box = None
            if own is None or len(own) < config.least_voxels:
                continue
            own = own[_main_piece(votes.cells(own))]
            if len(own) >= config.least_voxels:
                known.box, known.low, known.high = _box_of(votes.point[own].astype(np.float64), config.voxel_m)

    def _choose_shown(self) -> tuple[tuple[str, str], ...]:
        """Decide which things are shown; return the tracks that are no longer, with what they became a part of."""
        likely = [number for number, thing in self._things.items() if self._may_be_shown(thing)]
        things = [self._things[number] for number in likely]
        container = self._containers(things)
        shown = {number for i, number in enumerate(likely) if container[i] < 0}
        whole = {number: likely[container[i]] for i, number in enumerate(likely) if container[i] >= 0}
        ended = []
        for number in sorted(self._shown - shown):
            into = self._became.get(number) or whole.get(number, 0)
            into = self._now(into) if into else 0
            ended.append((self._track(number), self._track(into) if into in shown else ""))
        self._shown = shown
        return tuple(ended)

    def _may_be_shown(self, thing: _Thing) -> bool:
        config = self.config
        if thing.box is None or thing.views < config.confirmed_views:
            return False
        sides = np.sort(thing.box.size)
        sheet = sides[0] < config.sheet_thickness_m and sides[1] > config.sheet_side_m
        return bool(sides[2] <= config.max_thing_m and not sheet)

    def _containers(self, things: list[_Thing]) -> list[int]:
        """Return for each thing the place of the larger one that it is a part of, -1 for none."""
        if not things:
            return []
        low, high = np.array([t.low for t in things]), np.array([t.high for t in things])
        volume = (high - low).prod(axis=1)
        shared = np.clip(np.minimum(high[:, None], high) - np.maximum(low[:, None], low), 0.0, None).prod(axis=2)
        inside = shared >= self.config.part_share * volume[:, None]
        found = [-1] * len(things)
        for i in np.argsort(-volume, kind="stable").tolist():
            larger = [
                j for j in np.flatnonzero(inside[i]).tolist() if j != i and found[j] < 0 and volume[j] > volume[i]
            ]
            if larger:
                found[i] = max(larger, key=lambda j: (float(shared[i, j]), -j))
        return found


def _points(
    labels: NDArray[np.integer], depth_m: NDArray[np.float32], intrinsics: Intrinsics, matrix: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.integer]]:
    """Return points (m, 3) in map of some of the pixels, and the segment of each."""
    step = max(1, round(intrinsics.fx / _FOCAL_PX))
    depth, numbers = depth_m[::step, ::step], labels[::step, ::step]
    with np.errstate(invalid="ignore"):
        rows, columns = np.nonzero((depth > 0.2) & (depth < _FARTHEST_M))
    z = depth[rows, columns].astype(np.float64)
    x = (columns * step - intrinsics.cx) * z / intrinsics.fx
    y = (rows * step - intrinsics.cy) * z / intrinsics.fy
    return np.stack([x, y, z], axis=1) @ matrix[:3, :3].T + matrix[:3, 3], numbers[rows, columns]


def _leading(inverse: Indices, numbers: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Return for voxels (count,) the segment that most of their points with a segment are of, 0 for none."""
    of_segment = numbers > 0
    width = int(numbers.max(initial=0)) + 1
    pairs, votes = np.unique(inverse[of_segment].astype(np.int64) * width + numbers[of_segment], return_counts=True)
    voxel, number = np.divmod(pairs, width)
    order = np.lexsort((votes, voxel))
    leading = np.zeros(count, np.int64)
    leading[voxel[order]] = number[order]  # of several the last one stays, which has most votes
    return leading


def _main_piece(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the cells (k, 3) belong to the largest piece; gaps of one cell do not part pieces."""
    place = cells - cells.min(axis=0) + 1
    grid = np.zeros(place.max(axis=0) + 2, bool)
    grid[tuple(place.T)] = True
    pieces, count = ndimage.label(ndimage.binary_dilation(grid))
    if count < 2:
        return np.ones(len(cells), bool)
    own = pieces[tuple(place.T)]
    return np.asarray(own == np.bincount(own).argmax())


def _box_of(
    points: NDArray[np.float64], voxel_m: float
) -> tuple[OrientedBox, NDArray[np.float64], NDArray[np.float64]]:
    """Return the box of voxels' mean points (n, 3), along the map's axes where turning it gains little, and its lower
    and upper corner along these axes. A thing reaches a little beyond the means in its outer voxels."""
    beyond_m = _BEYOND * voxel_m
    low, high = value_at(points, _TRIM), value_at(points, 1.0 - _TRIM)
    turned = fit_oriented_box(points, _TRIM)
    size = np.maximum(high - low + 2.0 * beyond_m, voxel_m)
    box = OrientedBox(0.5 * (low + high), size)
    if turned.size[:2].prod() < _WORTH_TURNING * (high - low)[:2].prod():
        size = np.maximum(turned.size + 2.0 * beyond_m, voxel_m)
        box = OrientedBox(turned.center, size, turned.yaw_rad)
    corners = box.corners()
    return box, corners.min(axis=0), corners.max(axis=0)


class FollowedSegments:
    """Segments each depth image and follows the segments."""

    def __init__(
        self, segmentation: SegmentationConfig | None = None, tracking: SegmentTrackerConfig | None = None
    ) -> None:
        self._segmenter = GeometricSegmenter(segmentation)
        self._tracking = tracking
        self._runs = 0
        self._tracker = self._new_tracker()

    def start_anew(self) -> None:
        """Forget all things; the same ones get other names from now on."""
        self._tracker = self._new_tracker()

    def of_view(self, depth_m: NDArray[np.float32], intrinsics: Intrinsics, map_T_camera: Pose) -> TrackedSegments:
        """Return what a depth image (h, w) in metres shows of things that are known by now."""
        labels = self._segmenter.segment(depth_m, intrinsics)
        return self._tracker.track(labels, depth_m, intrinsics, map_T_camera)

    def _new_tracker(self) -> SegmentTracker:
        self._runs += 1
        return SegmentTracker(self._tracking, f"{self._runs}/")
