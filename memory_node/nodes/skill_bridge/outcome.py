"""One skill while it runs: its odometer and progress, the poses that were tried, its goals on other action servers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from action_msgs.msg import GoalStatus
from rclpy.node import Node

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, PoseKind, SkillFailure, StateChange, TriedPose
from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.target import Target

# Poses no farther apart than this are one try of the same (m, rad).
_SAME_M, _SAME_RAD = 0.12, np.pi / 6
# What a try with another thing of the class counts beside one with the thing itself.
_OF_CLASS = 0.5

Candidate = TypeVar("Candidate")


def tried(kind: PoseKind, target: Target, map_T_pose: Pose, worked: bool) -> TriedPose:
    """Return what is kept of a try."""
    seen = _frame_of(target).inverse() @ map_T_pose
    x, y, z, *turn = (round(float(number), 4) for number in (*seen.position, *seen.quaternion))
    return TriedPose(kind, target.object_id, target.object_class, (x, y, z, turn[0], turn[1], turn[2], turn[3]), worked)


class EarlierPoses:
    """recall: returns the poses that memory holds with things of a class; by default none."""

    def __init__(self, recall: Callable[[str], Iterable[TriedPose]] = lambda _: ()) -> None:
        self._recall = recall

    def ordered(
        self,
        kind: PoseKind,
        target: Target,
        candidates: Sequence[Candidate],
        pose_of: Callable[[Candidate], Pose],
        just_now: Sequence[TriedPose] = (),
    ) -> list[Candidate]:
        """Return candidates in their order, but those that are like what worked first, like what failed last.

        pose_of: returns a candidate's pose in map. just_now: what the running skill has tried.
        """
        recalled = self._recall(target.object_class) if candidates else ()
        earlier = [one for one in (*recalled, *just_now) if one.kind is kind]
        if not earlier:
            return list(candidates)
        map_T_thing = _frame_of(target)
        # The last one tells what is so now: an older one counts half as much each time.
        weighed = [
            (map_T_thing @ _pose(one), _worth(one, target) * 0.5**age) for age, one in enumerate(reversed(earlier))
        ]

        def doubt(candidate: Candidate) -> float:
            pose = pose_of(candidate)
            return -sum(worth for known, worth in weighed if _is_same(known, pose))

        return sorted(candidates, key=doubt)


def _worth(one: TriedPose, target: Target) -> float:
    return (1.0 if one.worked else -1.0) * (1.0 if one.object_id == target.object_id else _OF_CLASS)


def _frame_of(target: Target) -> Pose:
    x, y, z = map(float, target.box.center)
    return Pose.planar(x, y, target.box.yaw_rad, z)


def _pose(one: TriedPose) -> Pose:
    return Pose(np.array(one.numbers[:3]), np.array(one.numbers[3:]))


def _is_same(one: Pose, other: Pose) -> bool:
    if np.linalg.norm(one.position - other.position) > _SAME_M:
        return False
    # The angle between two rotations, from the quaternions' product.
    return bool(2.0 * np.arccos(min(abs(float(one.quaternion @ other.quaternion)), 1.0)) <= _SAME_RAD)


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


_REASONS = {
    Cause.CANCELED: FailureReason.CANCELED,
    Cause.REFUSED: FailureReason.EXECUTION,
    Cause.SERVER_GONE: FailureReason.EXECUTION,
}


class ActionCall:
    """A client of one action server.

    Args:
        node: the node that talks; other threads spin it.
        action_type: the action's class.
        name: the action's name.
        key: the parameter that names it, for messages.
        deadlines_s: how long the server may take to appear, and to accept a goal; and to confirm that it stopped.
        running: what is running, here and elsewhere.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        key: str,
        deadlines_s: tuple[float, float],
        running: RunningGoals,
    ) -> None:
        connect_s, stop_s = deadlines_s
        label = f"{name} (parameter {key})"
        self._client = GoalClient(node, action_type, name, running, connect_s, stop_s, label)

    def run(
        self,
        goal: Any,
        run: SkillRun,
        timeout_s: float,
        on_feedback: Callable[[Any], None] = lambda feedback: None,
        silence_s: float | None = None,
    ) -> Any:
        """Return the response (`status`, `result`) of a goal that has ended by itself.

        silence_s: without feedback for so long it is stopped; None: it need not give any.

        Raises:
            SkillFailure: CANCELED or TIMEOUT, once the server has been told to stop; EXECUTION: it refused the goal,
                or is gone.
        """
        try:
            return self._client.run(goal, timeout_s, lambda: run.canceled, on_feedback, silence_s)
        except GoalStoppedError as error:
            if error.response is not None and error.response.status == GoalStatus.STATUS_SUCCEEDED:
                return error.response  # it was done before it could be stopped, so it counts as done
            raise SkillFailure(_REASONS.get(error.cause, FailureReason.TIMEOUT), str(error)) from error
