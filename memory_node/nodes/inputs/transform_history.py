"""Where a sensor was at a moment: TF as it was recorded, without guesses across gaps, jumps and set-back clocks."""

from __future__ import annotations

import bisect
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tf2_ros
from rclpy.duration import Duration
from rclpy.time import Time

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.conversions.ranges import checked_label
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.timeline import Moment, Timelines

# Most frames that are kept: robots have dozens, but any sender may publish TF.
_MOST_FRAMES = 1_000


@dataclass(frozen=True)
class CorrectionLimits:
    """Least change of map->odom between two samples that is a correction and not drift; least change of height that is
    a lift and no correction."""

    odom_frame: str = "odom"
    jump_m: float = 0.1
    jump_rad: float = 0.05
    storey_m: float = 1.5


@dataclass
class _Edge:
    """The samples of one moving transform in one run: when they were taken, and which began with a jump."""

    parent: str
    stamps: list[int] = field(default_factory=list)
    jumps: set[int] = field(default_factory=set)
    last: Pose | None = None


@dataclass
class _Run:
    buffer: Any
    edges: dict[str, _Edge] = field(default_factory=dict)


class TransformHistory:
    """Keeps TF by runs of the clock and tells poses in the map frame.

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
        self._map_frame = map_frame
        self._longest_gap_ns = int(longest_gap_s * 1e9)
        self._clock_jump_ns = int(clock_jump_s * 1e9)
        self._limits = limits or CorrectionLimits()
        self._kept_s = kept_s
        self._kept_runs = kept_runs
        self._fixed: dict[str, Any] = {}
        self._timelines = Timelines((), clock_jump_s, strangers=True)
        self._runs: dict[int, _Run] = {}
        self._still = self._new_run()  # what fixed transforms alone tell

    def add_fixed(self, transform: Any) -> None:
        """Take in a TransformStamped of /tf_static.

        Raises:
            InvalidValueError: it is none: not finite, no rotation, no frames; or one frame too many.
        """
        _check(transform, self._fixed)
        self._fixed[transform.child_frame_id.lstrip("/")] = transform
        for run in (self._still, *self._runs.values()):
            run.buffer.set_transform_static(transform, "tf_static")

    def add(self, transform: Any) -> OdomJump | None:
        """Take in a TransformStamped of /tf; return the correction if it is one.

        Raises:
            InvalidValueError: it is none: not finite, no rotation, no stamp, no frames; or one frame too many.
        """
        _check(transform, self._timelines.streams)
        child = transform.child_frame_id.lstrip("/")
        parent = transform.header.frame_id.lstrip("/")
        moment = self._timelines.moment(child, conversions.stamp_from_msg(transform.header.stamp))
        run = self._run(moment.run)
        known = run.edges.get(child)
        if known is not None and known.stamps and known.stamps[-1] - moment.stamp_ns > self._clock_jump_ns:
            # A sample from far ahead came in between; tf2 has let the others of this frame go.
            run = self._begin(moment.run)
        edge = run.edges.setdefault(child, _Edge(parent))
        if edge.stamps and moment.stamp_ns <= edge.stamps[-1]:
            return None  # TF repeats samples, and brings some late; a moment is told only once
        run.buffer.set_transform(transform, "tf")
        jump = self._jump(edge, child, moment, transform)
        edge.parent = parent
        edge.stamps.append(moment.stamp_ns)
        oldest = bisect.bisect_left(edge.stamps, moment.stamp_ns - int(self._kept_s * 1e9))
        if oldest > 1000:
            edge.jumps -= set(edge.stamps[:oldest])
            del edge.stamps[:oldest]
        return jump

    def knows(self, frame: str) -> bool:
        """Return whether any transform leads to or from a frame."""
        name = frame.lstrip("/")
        parents = {fixed.header.frame_id.lstrip("/") for fixed in self._fixed.values()}
        parents |= {edge.parent for run in self._runs.values() for edge in run.edges.values()}
        return name in parents or name in self._fixed or name in self._timelines.streams

    def pose(self, frame: str, moment: Moment) -> Pose | None:
        """Return map_T_frame at a moment, None while TF has not come that far.

        Raises:
            InputSkippedError: it will never be known ("tf_gap", "tf_jump", "no_transform").
        """
        run = self._runs.get(moment.run, self._still)
        path = self._path(run, frame.lstrip("/"))
        if path is None or not all(self._covers(run.edges[child], child, moment) for child in path):
            return None
        try:
            found = run.buffer.lookup_transform_core(self._map_frame, frame, Time(nanoseconds=moment.stamp_ns))
        except tf2_ros.TransformException as error:
            raise InputSkippedError("no_transform", str(error)) from error
        return conversions.transform_from_msg(found.transform)

    def fixed_pose(self, frame: str) -> Pose | None:
        """Return map_T_frame where fixed transforms alone lead there, as to the map of another floor; else None."""
        (root, root_T_frame), (map_root, root_T_map) = map(self._fixed_root, (frame.lstrip("/"), self._map_frame))
        return root_T_map.inverse() @ root_T_frame if root == map_root else None

    def _fixed_root(self, frame: str) -> tuple[str, Pose]:
        """Return the frame that fixed transforms lead up to, and the pose of `frame` in it."""
        root_T_frame = Pose()
        for _ in self._fixed:
            if frame not in self._fixed:
                break
            transform = self._fixed[frame]
            root_T_frame = conversions.transform_from_msg(transform.transform) @ root_T_frame
            frame = transform.header.frame_id.lstrip("/")
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
        raise InputSkippedError("no_transform", f"TF does not tell where {frame} is in {self._map_frame} then")

    def _run(self, number: int) -> _Run:
        return self._runs[number] if number in self._runs else self._begin(number)

    def _begin(self, number: int) -> _Run:
        """Begin a run, or begin it again. Where there are too many, the one with the fewest frames goes, of these the
        oldest: a frame whose clock jumps about must not take the run of all others away."""
        self._runs[number] = self._new_run()
        if len(self._runs) > self._kept_runs:
            used = self._timelines.runs
            del self._runs[min(self._runs.keys() - {number}, key=lambda other: (used[other], other))]
        return self._runs[number]

    def _new_run(self) -> _Run:
        run = _Run(tf2_ros.Buffer(cache_time=Duration(seconds=self._kept_s)))
        for transform in self._fixed.values():
            run.buffer.set_transform_static(transform, "tf_static")
        return run

    def _path(self, run: _Run, frame: str) -> list[str] | None:
        """Return the moving transforms between a frame and the map, by child; None while they are not connected."""
        up, down = self._ancestry(run, frame), self._ancestry(run, self._map_frame)
        joint = next((name for name in up if name in down), None)
        if joint is None:
            return None
        steps = up[: up.index(joint)] + down[: down.index(joint)]
        return [child for child in steps if child in run.edges]

    def _ancestry(self, run: _Run, frame: str) -> list[str]:
        """Return a frame, its parent, and so on."""
        names: list[str] = []
        while frame not in names:
            names.append(frame)
            if frame in run.edges:
                frame = run.edges[frame].parent
            elif frame in self._fixed:
                frame = self._fixed[frame].header.frame_id.lstrip("/")
        return names

    def _covers(self, edge: _Edge, child: str, moment: Moment) -> bool:
        stamp = moment.stamp_ns
        after = bisect.bisect_left(edge.stamps, stamp)
        if after == len(edge.stamps):
            return False
        if edge.stamps[after] == stamp:
            return True
        if after == 0:
            raise InputSkippedError("no_transform", f"TF of {child} begins after the input's stamp")
        gap_ns = edge.stamps[after] - edge.stamps[after - 1]
        if gap_ns > self._longest_gap_ns:
            raise InputSkippedError("tf_gap", f"TF of {child} is silent for {gap_ns * 1e-9:.2f} s around the stamp")
        if edge.stamps[after] in edge.jumps:
            raise InputSkippedError("tf_jump", f"{child} was just being corrected")
        return True

    def _jump(self, edge: _Edge, child: str, moment: Moment, transform: Any) -> OdomJump | None:
        limits = self._limits
        if child != limits.odom_frame:
            return None
        parent = transform.header.frame_id.lstrip("/")
        map_T_parent = self.fixed_pose(parent)
        pose = map_T_parent and map_T_parent @ conversions.transform_from_msg(transform.transform)
        last, edge.last = edge.last, pose
        elsewhere = parent != edge.parent
        new_T_old = None
        if not elsewhere:
            if pose is None or last is None:
                return None
            moved, new_T_old = np.abs(pose.position - last.position), pose @ last.inverse()
            if moved.max() <= limits.jump_m and abs(new_T_old.yaw_rad) <= limits.jump_rad:
                return None
            elsewhere = moved[2] > limits.storey_m
        edge.jumps.add(moment.stamp_ns)
        return OdomJump(moment, None if elsewhere else new_T_old)


def _check(transform: Any, known: Collection[str]) -> None:
    """Look whether a TransformStamped is one, before anything is kept of it; raises InvalidValueError.

    known: the frames of which something is kept already.
    """
    child = checked_label("child_frame_id", transform.child_frame_id.lstrip("/"), required=True)
    parent = checked_label("frame_id", transform.header.frame_id.lstrip("/"), required=True)
    if child == parent:
        raise InvalidValueError(f"child_frame_id: expected another frame than frame_id, got {child!r} twice")
    if child not in known and len(known) >= _MOST_FRAMES:
        raise InvalidValueError(f"child_frame_id: expected at most {_MOST_FRAMES} frames, {child!r} is one more")
    conversions.transform_from_msg(transform.transform, f"transform of {child}")
