"""One skill while it runs: its odometer, progress and what it has changed so far; the first way that can be gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, PoseKind, SkillFailure, StateChange, TriedPose
from memory_node.nodes.skill_bridge.earlier_poses import tried
from memory_node.nodes.skill_bridge.target import Target

Way = TypeVar("Way")
Outcome = TypeVar("Outcome")
Report = Callable[[str, float, "Pose | None", float], None]  # phase, progress 0 to 1, robot in map, metres so far


class SkillRun:
    """What one ExecuteSkill goal has done until now.

    Args:
        is_canceled: whether the caller wants it to stop.
        report: gets the feedback.
        episode_id: of the goal, for actions that it is handed on to.

    Attributes:
        manipulated: whether the arm has moved.
        tried: poses of base and arm, and what came of them.
    """

    def __init__(self, is_canceled: Callable[[], bool], report: Report, episode_id: str = "") -> None:
        self.episode_id = episode_id
        self.distance_m = 0.0
        self.explored_areas = 0
        self.changes: list[StateChange] = []
        self.manipulated = False
        self.tried: list[TriedPose] = []
        self._is_canceled = is_canceled
        self._report = report
        self._pose: Pose | None = None

    @property
    def canceled(self) -> bool:
        """Whether the caller wants the skill to stop."""
        return self._is_canceled()

    def check(self) -> None:
        """Raise SkillFailure(CANCELED) once the caller wants the skill to stop."""
        if self._is_canceled():
            raise SkillFailure(FailureReason.CANCELED, "canceled")

    def moved_to(self, pose: Pose) -> None:
        """Count the way of the base from where it was reported last."""
        if self._pose is not None:
            self.distance_m += float(np.linalg.norm(pose.position[:2] - self._pose.position[:2]))
        self._pose = pose

    def report(self, phase: str, progress: float) -> None:
        """Tell the caller how far the skill is; phase: navigating, looking or manipulating."""
        self.manipulated |= phase == "manipulating" and progress > 0.0
        self._report(phase, min(max(progress, 0.0), 1.0), self._pose, self.distance_m)

    def changed(self, changes: Iterable[StateChange]) -> None:
        """Note what is certain to have changed, also if the rest of the skill fails."""
        self.changes += changes

    @contextmanager
    def trying(self, kind: PoseKind, target: Target, map_T_pose: Pose) -> Iterator[None]:
        """Note what comes of a pose: it worked, or the motion from there failed."""
        try:
            yield
        except SkillFailure as failure:
            if failure.reason is FailureReason.EXECUTION:
                self.tried.append(tried(kind, target, map_T_pose, False))
            raise
        self.tried.append(tried(kind, target, map_T_pose, True))


def first_reachable(ways: Iterable[Way], go: Callable[[Way], Outcome], no_way: str, object_id: str = "") -> Outcome:
    """Return what `go` returns for the first way that the robot can go; no_way: what is said where there is none.

    Raises:
        SkillFailure: UNREACHABLE, by the last way; any other failure ends the search.
    """
    failure = SkillFailure(FailureReason.UNREACHABLE, no_way, object_id)
    for way in ways:
        try:
            return go(way)
        except SkillFailure as error:
            if error.reason is not FailureReason.UNREACHABLE:
                raise
            failure = error
    raise failure
