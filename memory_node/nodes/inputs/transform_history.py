"""Where a sensor was at a moment: TF as it was recorded, without guesses across gaps, jumps and set-back clocks."""

from __future__ import annotations

import bisect
import math
from array import array
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import POSITION_LIMIT_M, Pose
from memory_node.nodes import conversions
from memory_node.nodes.conversions.ranges import checked_label
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.ordered_inputs import Moment, Timelines

# Most frames that are kept: robots have dozens, but any sender may publish TF.
MOST_FRAMES = 1_000
# A history is cut when so many samples are too old.
_CUT_SAMPLES = 1_000
# Squares of the lengths of quaternions that Pose takes.
_UNIT = (0.99**2, 1.01**2)

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class CorrectionLimits:
    """Least change of map->odom between two samples that is a correction and not drift; least change of height that is
    a lift and no correction.

    corrects: False: no change is a correction. held_s: how long the last sample holds of a localiser that is slower
    than TF's longest gap; 0: not at all.
    """

    odom_frame: str = "odom"
    jump_m: float = 0.1
    jump_rad: float = 0.05
    storey_m: float = 1.5
    corrects: bool = True
    held_s: float = 0.0


@dataclass
class _Edge:
    """The samples of one moving transform in one run: stamps, parents, seven numbers each (see `tf_bytes`), and the
    stamps of those that began with a jump."""

    stamps: array[int] = field(default_factory=lambda: array("q"))
    parents: list[str] = field(default_factory=list)
    numbers: array[float] = field(default_factory=lambda: array("d"))
    jumps: set[int] = field(default_factory=set)
    # Over gaps longer than the first and up to the second, the earlier sample holds.
    held_gaps_ns: tuple[int, int] = (0, 0)

    def append(self, parent: str, stamp_ns: int, numbers: Numbers) -> None:
        self.stamps.append(stamp_ns)
        self.parents.append(parent)
        self.numbers.extend(numbers)

    def cut(self, oldest_ns: int) -> None:
        count = bisect.bisect_left(self.stamps, oldest_ns)
        if count > _CUT_SAMPLES:
            self.jumps -= set(self.stamps[:count])
            del self.stamps[:count], self.parents[:count], self.numbers[: 7 * count]

    def numbers_of(self, place: int) -> Numbers:
        """Return the numbers of one sample; -1 is the last."""
        begin = 7 * (place % len(self.stamps))
        return tuple(self.numbers[begin : begin + 7])

    def parent_at(self, stamp_ns: int) -> str:
        """Return the parent that the frame has at a stamp, as far as is known."""
        return self.parents[self._place(stamp_ns)]

    def pose_at(self, stamp_ns: int) -> Pose:
        """Return the pose in the parent at a stamp within the samples."""
        place = self._place(stamp_ns)
        here = conversions.pose_from_numbers(self.numbers_of(place))
        if self.stamps[place] <= stamp_ns:
            return here
        before_ns = self.stamps[place - 1]
        before = conversions.pose_from_numbers(self.numbers_of(place - 1))
        return before.towards(here, (stamp_ns - before_ns) / (self.stamps[place] - before_ns))

    def held_for_ns(self, stamp_ns: int) -> int | None:
        """Return for how long the sample before a stamp has held there; None: it is interpolated, or waited for."""
        after = bisect.bisect_left(self.stamps, stamp_ns)
        if after == 0 or (after < len(self.stamps) and self.stamps[after] == stamp_ns):
            return None
        # After the last sample, the gap before it tells how slow they are. A longer gap was a pause.
        last = min(after, len(self.stamps) - 1)
        gap_ns = self.stamps[last] - self.stamps[last - 1] if last > 0 else 0
        return stamp_ns - self.stamps[after - 1] if self.held_gaps_ns[0] < gap_ns <= self.held_gaps_ns[1] else None

    def _place(self, stamp_ns: int) -> int:
        """Return the first sample from a stamp on, or the one before where that holds until then: where the frame
        changes parents in between, too."""
        after = min(bisect.bisect_left(self.stamps, stamp_ns), len(self.stamps) - 1)
        is_between = after > 0 and stamp_ns < self.stamps[after]
        changes = is_between and self.parents[after - 1] != self.parents[after]
        return after - 1 if changes or (is_between and self.held_for_ns(stamp_ns) is not None) else after


_Run = dict[str, _Edge]


class TransformHistory:
    """Keeps TF by runs of the clock and tells poses in the map frame. Numbers become poses when they are asked for.

    Args:
        map_frame: the frame of the graph.
        longest_gap_s: samples of TF further apart than this are not interpolated between.
        clock_jump_s: a step back of more than this means that the clock was set back.
        limits: what counts as a jump of map->odom.
        kept_s, kept_runs: how much TF is kept.
    """

    def __init__(
        self,
        map_frame: str,
        longest_gap_s: float,
        clock_jump_s: float,
        limits: CorrectionLimits | None = None,
        kept_s: float = 60.0,
        kept_runs: int = 3,
    ) -> None:
        self.map_frame = map_frame
        self.limits = limits or CorrectionLimits()
        self._longest_gap_ns = int(longest_gap_s * 1e9)
        self._clock_jump_ns = int(clock_jump_s * 1e9)
        self._kept_ns = int(kept_s * 1e9)
        self._kept_runs = kept_runs
        self._fixed: dict[str, tuple[str, Pose]] = {}
        self._timelines = Timelines((), clock_jump_s, strangers=True)
        self._runs: dict[int, _Run] = {}
        # The stamp that came last; None: none has.
        self.newest_ns: int | None = None

    def add_fixed(self, transform: Any) -> None:
        """Take in a TransformStamped of /tf_static.

        Raises:
            InvalidValueError: it is none: not finite, no rotation, no frames; or one frame too many.
        """
        parent, child = _names(transform)
        _check_room(child, self._fixed)
        self._fixed[child] = parent, conversions.transform_from_msg(transform.transform, f"transform of {child}")

    def add(self, transform: Any) -> OdomJump | None:
        """Take in a TransformStamped of /tf; return the correction if it is one; raises as `add_sample`."""
        translation, rotation = transform.transform.translation, transform.transform.rotation
        numbers = (translation.x, translation.y, translation.z, rotation.x, rotation.y, rotation.z, rotation.w)
        stamp_ns = conversions.stamp_from_msg(transform.header.stamp)
        return self.add_sample(*_names(transform), stamp_ns, numbers)

    def add_sample(self, parent: str, child: str, stamp_ns: int, numbers: Numbers) -> OdomJump | None:
        """Take in a moving transform: x, y, z in metres and the quaternion's x, y, z, w; return the correction if it
        is one.

        Raises:
            InvalidValueError: it is none: not finite, no rotation, no frames; or one frame too many.
        """
        _check_room(child, self._timelines.streams)
        _check_numbers(child, numbers)
        self.newest_ns = stamp_ns
        moment = self._timelines.moment(child, stamp_ns)
        run = self._runs.get(moment.run)
        known = run.get(child) if run is not None else None
        if run is None or (known is not None and known.stamps[-1] - stamp_ns > self._clock_jump_ns):
            # The second: a sample from far ahead came in between, which would hide all that follow.
            run, known = self._begin(moment.run), None
        if known is None:
            held_ns = int(self.limits.held_s * 1e9) if child == self.limits.odom_frame else 0
            run[child] = edge = _Edge(held_gaps_ns=(self._longest_gap_ns, held_ns))
            edge.append(parent, stamp_ns, numbers)
            return None
        if stamp_ns <= known.stamps[-1]:
            return None  # TF repeats samples, and brings some late; a moment is told only once
        may_jump = self.limits.corrects and child == self.limits.odom_frame
        jump = self._jump(known, moment, parent, numbers) if may_jump else None
        if jump is not None:
            known.jumps.add(stamp_ns)
        known.append(parent, stamp_ns, numbers)
        known.cut(stamp_ns - self._kept_ns)
        return jump

    def knows(self, frame: str) -> bool:
        """Return whether any transform leads to or from a frame."""
        name = frame.lstrip("/")
        parents = {parent for parent, _ in self._fixed.values()}
        parents |= {edge.parents[-1] for run in self._runs.values() for edge in run.values()}
        return name in parents or name in self._fixed or name in self._timelines.streams

    def fixed_parent(self, frame: str) -> str | None:
        """Return the frame that a fixed transform places a frame in, if one does."""
        return self._fixed[frame][0] if frame in self._fixed else None

    def pose(self, frame: str, moment: Moment) -> Pose | None:
        """Return map_T_frame at a moment, None while TF has not come that far.

        Raises:
            InputSkippedError: it will never be known ("tf_gap", "tf_jump", "no_transform").
        """
        run, stamp_ns = self._runs.get(moment.run, {}), moment.stamp_ns
        up = self._ancestry(run, frame.lstrip("/"), stamp_ns)
        down = self._ancestry(run, self.map_frame, stamp_ns)
        joint = next((name for name in up if name in down), None)
        if joint is None:
            return None
        up, down = up[: up.index(joint)], down[: down.index(joint)]
        if not all(self._covers(run[child], child, moment) for child in (*up, *down) if child in run):
            return None
        joint_T_map, joint_T_frame = (self._pose_along(run, way, stamp_ns) for way in (down, up))
        return joint_T_map.inverse() @ joint_T_frame

    def fixed_pose(self, frame: str) -> Pose | None:
        """Return map_T_frame where fixed transforms alone lead there, as to the map of another floor; else None."""
        (root, root_T_frame), (map_root, root_T_map) = map(self._fixed_root, (frame.lstrip("/"), self.map_frame))
        return root_T_map.inverse() @ root_T_frame if root == map_root else None

    def _fixed_root(self, frame: str) -> tuple[str, Pose]:
        """Return the frame that fixed transforms lead up to, and the pose of `frame` in it."""
        root_T_frame = Pose()
        for _ in self._fixed:
            if frame not in self._fixed:
                break
            frame, parent_T_frame = self._fixed[frame]
            root_T_frame = parent_T_frame @ root_T_frame
        return frame, root_T_frame

    def pose_in_any_run(self, frame: str, moment: Moment) -> Pose:
        """Return map_T_frame at a moment's stamp in the latest run of TF that covers it: one stream may have been
        set back, or restarted, without the others.

        Raises:
            InputSkippedError: none does.
        """
        for run in sorted(self._runs, reverse=True):
            found = self.pose(frame, Moment(run, moment.stamp_ns))
            if found is not None:
                return found
        raise InputSkippedError("no_transform", self._why_unknown(frame.lstrip("/"), moment))

    def _why_unknown(self, frame: str, moment: Moment) -> str:
        run, stamp_ns = self._runs.get(moment.run, {}), moment.stamp_ns
        up, down = (self._ancestry(run, name, stamp_ns) for name in (frame, self.map_frame))
        if up[-1] != down[-1]:
            way = " <- ".join(reversed(up))
            return f"TF does not connect {frame} with {self.map_frame}: all that it tells of {frame} is {way}"
        ends = {name: run[name].stamps[-1] for name in (*up, *down) if name in run}
        slowest = min(ends, key=ends.__getitem__)
        if ends[slowest] >= stamp_ns:
            return f"TF does not tell where {frame} is in {self.map_frame} then"
        late_s, waited_s = (stamp_ns - ends[slowest]) * 1e-9, self._longest_gap_ns * 1e-9
        return (
            f"TF of {slowest} is late: its newest transform is {late_s:.2f} s older than an input that has waited for "
            f"{waited_s:g} s (tf_timeout_s); set tf_timeout_s above {late_s + waited_s:.2f}, or publish it sooner"
        )

    def _begin(self, number: int) -> _Run:
        """Begin a run, or begin it again. Where there are too many, the one with the fewest frames goes, of these the
        oldest: a frame whose clock jumps about must not take the run of all others away."""
        self._runs[number] = {}
        if len(self._runs) > self._kept_runs:
            used = self._timelines.runs
            del self._runs[min(self._runs.keys() - {number}, key=lambda other: (used[other], other))]
        return self._runs[number]

    def _ancestry(self, run: _Run, frame: str, stamp_ns: int) -> list[str]:
        """Return a frame, its parent at a stamp, and so on."""
        names: list[str] = []
        while frame not in names:
            names.append(frame)
            if frame in run:
                frame = run[frame].parent_at(stamp_ns)
            elif frame in self._fixed:
                frame = self._fixed[frame][0]
        return names

    def _pose_along(self, run: _Run, way: list[str], stamp_ns: int) -> Pose:
        """Return the pose of the first frame of a way in the parent of its last."""
        end_T_first = Pose()
        for name in way:
            parent_T_name = run[name].pose_at(stamp_ns) if name in run else self._fixed[name][1]
            end_T_first = parent_T_name @ end_T_first
        return end_T_first

    def _covers(self, edge: _Edge, child: str, moment: Moment) -> bool:
        stamp = moment.stamp_ns
        held_ns = edge.held_for_ns(stamp)
        if held_ns is not None:
            if held_ns > self.limits.held_s * 1e9:
                why = f"{child} has not been localised for {held_ns * 1e-9:.1f} s, localizer_timeout_s allows"
                raise InputSkippedError("tf_gap", f"{why} {self.limits.held_s:g}")
            return True
        after = bisect.bisect_left(edge.stamps, stamp)
        if after == len(edge.stamps):
            return False
        if edge.stamps[after] == stamp:
            return True
        if after == 0:
            raise InputSkippedError("no_transform", f"TF of {child} begins after the input's stamp")
        gap_ns = edge.stamps[after] - edge.stamps[after - 1]
        if gap_ns > self._longest_gap_ns:
            allowed = f"tf_timeout_s allows {self._longest_gap_ns * 1e-9:g}"
            raise InputSkippedError("tf_gap", f"TF of {child} is silent for {gap_ns * 1e-9:.2f} s, {allowed}")
        if edge.stamps[after] in edge.jumps:
            raise InputSkippedError("tf_jump", f"{child} was just being corrected")
        return True

    def _jump(self, edge: _Edge, moment: Moment, parent: str, numbers: Numbers) -> OdomJump | None:
        limits, before = self.limits, edge.numbers_of(-1)
        if parent != edge.parents[-1]:
            return OdomJump(moment, None)
        if _is_near(before, numbers, limits):
            return None
        map_T_parent = self.fixed_pose(parent)
        if map_T_parent is None:
            return None
        last, pose = (map_T_parent @ conversions.pose_from_numbers(each) for each in (before, numbers))
        moved, new_T_old = np.abs(pose.position - last.position), pose @ last.inverse()
        if moved.max() <= limits.jump_m and abs(new_T_old.yaw_rad) <= limits.jump_rad:
            return None
        return OdomJump(moment, None if moved[2] > limits.storey_m else new_T_old)


def _is_near(one: Numbers, other: Numbers, limits: CorrectionLimits) -> bool:
    """Return whether two samples are so near that they are no jump, whatever the axes; without making poses of them."""
    if one == other:
        return True
    way_m2 = sum((a - b) ** 2 for a, b in zip(one[:3], other[:3]))
    lengths = sum(a * a for a in one[3:]) * sum(b * b for b in other[3:])
    inner = sum(a * b for a, b in zip(one[3:], other[3:]))  # times the lengths the cosine of half the angle
    return way_m2 <= limits.jump_m**2 and inner * inner >= math.cos(0.5 * limits.jump_rad) ** 2 * lengths


def _names(transform: Any) -> tuple[str, str]:
    """Return parent and child of a TransformStamped; raises InvalidValueError."""
    return checked_frames(transform.header.frame_id, transform.child_frame_id)


def checked_frames(parent: str, child: str) -> tuple[str, str]:
    """Return the names of a transform's frames, without the slash that ROS 1 had before them.

    Raises:
        InvalidValueError: they are none.
    """
    child = checked_label("child_frame_id", child.lstrip("/"), required=True)
    parent = checked_label("frame_id", parent.lstrip("/"), required=True)
    if child == parent:
        raise InvalidValueError(f"child_frame_id: expected another frame than frame_id, got {child!r} twice")
    return parent, child


def _check_room(child: str, known: Collection[str]) -> None:
    """Raise InvalidValueError for one frame too many; known: the frames of which something is kept already."""
    if child not in known and len(known) >= MOST_FRAMES:
        raise InvalidValueError(f"child_frame_id: expected at most {MOST_FRAMES} frames, {child!r} is one more")


def _check_numbers(child: str, numbers: Numbers) -> None:
    """Raise InvalidValueError for numbers that are no transform, before anything is kept of them."""
    least, most = _UNIT
    # Both are false for NaN.
    is_near = all(abs(value) <= POSITION_LIMIT_M for value in numbers[:3])
    if not (is_near and least <= sum(value * value for value in numbers[3:]) <= most):
        try:
            conversions.pose_from_numbers(numbers)
        except InvalidValueError as error:
            raise InvalidValueError(f"transform of {child}: {error}") from error
