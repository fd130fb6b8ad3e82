"""Keyframes of the camera's path, and their motion when SLAM corrects earlier poses."""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Pose, wrap_angle
from memory_node.nodes.inputs.ordered_inputs import Moment

# A keyframe stands for what is seen until the camera has moved or turned this far.
_STEP_M = 0.25
_STEP_RAD = 0.25
# Odometry drifts with distance: a jump after less than this also corrects the jump before (m).
_DRIFTS_AFTER_M = 1.0
_JUMPS_KEPT = 16


@dataclass(frozen=True, eq=False)
class OdomJump:
    """map->odom was corrected: what was placed before `moment` lies at new_T_old times its place now; None: the robot
    is on another floor since then, and nothing that was placed before moves."""

    moment: Moment
    new_T_old: Pose | None


class CorrectedMemory(Protocol):
    """What is told of corrections."""

    def keyframes(self) -> dict[str, Pose]:
        """Return map_T_keyframe by name."""

    def correct_poses(self, corrected: Mapping[str, Pose]) -> object:
        """Move what was seen from keyframes to their new map_T_keyframe."""


class Keyframes:
    """Names the keyframe of each frame (by its stamp), and passes SLAM's corrections on to memory.

    A jump of map->odom tells how far the pose had drifted since the jump before: it moves what was seen since then, and
    what the jump before moved as well where the robot has hardly driven in between. A path of optimised poses tells for
    each part of the way how far it moved since the path before: what was seen there moves with it.
    """

    def __init__(self, memory: CorrectedMemory) -> None:
        self._memory = memory
        self._jumps: deque[OdomJump] = deque(maxlen=_JUMPS_KEPT)
        self._since_jump: list[str] = []
        self._moved_by_jump: list[str] = []
        self._way_m = 0.0
        self._pose: Pose | None = None
        self._jumped = True
        self._path: dict[int, Pose] = {}

    def name(self, stamp_ns: int, map_T_camera: Pose) -> str:
        """Return the name of the keyframe that a frame belongs to."""
        if self._pose is None or self._jumped or not self._is_near(self._pose, map_T_camera):
            if self._pose is not None:
                self._way_m += float(np.linalg.norm(map_T_camera.position - self._pose.position))
            self._pose, self._jumped = map_T_camera, False
            self._since_jump.append(str(stamp_ns))
        return self._since_jump[-1]

    def pose_now(self, moment: Moment, map_T_camera: Pose) -> Pose:
        """Return a pose that TF told of a moment in the map as it has been corrected since."""
        for jump in self._jumps:
            if moment < jump.moment:
                if jump.new_T_old is None:
                    break
                map_T_camera = jump.new_T_old @ map_T_camera
        return map_T_camera

    def note_jump(self, jump: OdomJump) -> None:
        """Note where the map jumped, for images from before it that come after it."""
        self._jumps.append(jump)

    def follow_jump(self, jump: OdomJump) -> None:
        """Move what was seen since the jump before; the next frame begins a keyframe of its own."""
        self.note_jump(jump)
        moved = self._since_jump
        if self._way_m < _DRIFTS_AFTER_M:
            moved = self._moved_by_jump + moved
        if jump.new_T_old is None:
            moved, self._pose = [], None
        else:
            known = self._memory.keyframes()
            self._memory.correct_poses({n: jump.new_T_old @ known[n] for n in moved if n in known})
            self._pose = self._pose and jump.new_T_old @ self._pose
        self._moved_by_jump, self._since_jump = moved, []
        self._way_m, self._jumped = 0.0, True

    def follow_path(self, path: Mapping[int, Pose]) -> None:
        """Move what was seen along the way to where the way is now; path: map_T_robot by stamp in nanoseconds.

        Raises:
            InputSkippedError: its poses are not told apart by stamps ("path_stamps").
        """
        if len(path) < 2:
            raise InputSkippedError("path_stamps", "expected a Path whose poses carry their stamps")
        changes = {stamp: path[stamp] @ self._path[stamp].inverse() for stamp in sorted(self._path) if stamp in path}
        self._path = dict(path)
        stamps, corrected = list(changes), {}
        for name, pose in self._memory.keyframes().items() if changes else ():
            moved = _moved_along(changes, stamps, int(name), pose)
            if not self._is_still(pose, moved):
                corrected[name] = moved
        if corrected:
            self._memory.correct_poses(corrected)
            self._since_jump, self._jumped = [], True

    @staticmethod
    def _is_near(one: Pose, other: Pose) -> bool:
        return float(np.linalg.norm(one.position - other.position)) < _STEP_M and one.turn_rad(other) < _STEP_RAD

    @staticmethod
    def _is_still(before: Pose, after: Pose) -> bool:
        moved_m = float(np.linalg.norm(after.position - before.position))
        return moved_m < 1e-3 and abs(wrap_angle(after.yaw_rad - before.yaw_rad)) < 1e-4


def _moved_along(changes: Mapping[int, Pose], stamps: Sequence[int], stamp_ns: int, pose: Pose) -> Pose:
    """Return a pose of a stamp after the changes of the way, `stamps` theirs in order: between two some of each."""
    after = bisect.bisect_left(stamps, stamp_ns)
    if after in (0, len(stamps)):
        return changes[stamps[min(after, len(stamps) - 1)]] @ pose
    earlier, later = stamps[after - 1], stamps[after]
    return (changes[earlier] @ pose).towards(changes[later] @ pose, (stamp_ns - earlier) / (later - earlier))
