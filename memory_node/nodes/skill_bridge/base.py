"""The base: its pose by TF, drives through Nav2 to where a thing can be used, and places explored until it is seen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformException, TransformListener

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.skill import Exploration, FailureReason, PoseKind, SkillFailure
from memory_node.domain.states import ObjectState
from memory_node.nodes import conversions
from memory_node.nodes.qos import LATCHED, OVERRIDABLE, own
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.config import BaseParameters, SkillsParameters
from memory_node.nodes.skill_bridge.outcome import ActionCall, EarlierPoses, SkillRun, first_reachable, tried
from memory_node.nodes.skill_bridge.target import Target, TargetLookup, is_on_another_floor
from memory_node.planner.stand_off_poses import Costmap, StandOffConfig, rank_stand_offs


class Surroundings:
    """The robot in its map."""

    def __init__(self, node: Node, config: SkillsParameters) -> None:
        self._node = node
        self._config = config
        self._buffer = Buffer(cache_time=Duration(seconds=10.0))
        self._listener = TransformListener(self._buffer, node, spin_thread=False)
        self._grid: Costmap | None = None
        self._arrived = threading.Event()
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(
            OccupancyGrid,
            config.costmap_topic,
            self._on_costmap,
            own(LATCHED),
            callback_group=group,
            qos_overriding_options=OVERRIDABLE,
        )

    def robot_pose(self) -> Pose:
        """Return the newest pose of the base in map."""
        return self._transform(self._config.map_frame, self._config.base_frame)

    def catch_up(self) -> None:
        """Wait until TF tells where the base is now, for tf_timeout_s at most.

        Nav2's answer may overtake TF: by the newest pose the robot would still be on its way.
        """
        most_s, now = self._config.tf_timeout_s, self._node.get_clock().now()
        try:
            self._buffer.lookup_transform(
                self._config.map_frame, self._config.base_frame, now, Duration(seconds=most_s)
            )
        except TransformException as error:
            late = f"TF is {most_s:g} s late or more (parameter tf_timeout_s); its newest pose is taken: {error}"
            self._node.get_logger().warning(late, throttle_duration_sec=10.0)

    def map_in_arm_frame(self) -> Pose:
        """Return the newest transform from map to the frame that MoveIt gets poses in."""
        return self._transform(self._config.arm.frame, self._config.map_frame)

    def link_in_map(self) -> Pose:
        """Return the newest pose of the end-effector link in map."""
        return self._transform(self._config.map_frame, self._config.arm.link)

    def costmap(self) -> Costmap:
        """Return the newest costmap.

        Raises:
            SkillFailure: TIMEOUT, none has come.
        """
        if self._grid is None and not self._arrived.wait(self._config.tf_timeout_s):
            message = f"no costmap came on {self._config.costmap_topic} (parameter costmap_topic)"
            raise SkillFailure(FailureReason.TIMEOUT, message)
        assert self._grid is not None
        return self._grid

    def _transform(self, target: str, source: str) -> Pose:
        timeout = Duration(seconds=self._config.tf_timeout_s)
        try:
            found = self._buffer.lookup_transform(target, source, Time(), timeout)
        except TransformException as error:
            raise SkillFailure(FailureReason.EXECUTION, f"the robot's pose is unknown: {error}") from error
        return conversions.transform_from_msg(found.transform)

    def _on_costmap(self, msg: OccupancyGrid) -> None:
        try:
            grid = conversions.grid_from_msg(msg)
            if msg.header.frame_id != self._config.map_frame or abs(grid.map_T_origin.yaw_rad) > 1e-3:
                raise InvalidValueError(f"expected an unturned grid in {self._config.map_frame}")
        except InvalidValueError as error:
            self._node.get_logger().warning(f"skipped a costmap: {error}", throttle_duration_sec=10.0)
            return
        x, y, _ = grid.map_T_origin.position
        self._grid = Costmap(grid.cells, grid.resolution_m, (float(x), float(y)))
        self._arrived.set()


# Error codes of nav2_msgs/FollowPath: the way was there, following it failed.
_CONTROL_CODES = range(100, 200)


class NavigationBase:
    """Drives to poses in map; one drive at a time."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._node = node
        self._config = config
        self._call = ActionCall(node, NavigateToPose, config.base.action, "base.action", config.deadlines_s, running)

    def drive(self, goal: Pose, run: SkillRun) -> None:
        """Drive to a pose; feedback goes to the run.

        Raises:
            SkillFailure: UNREACHABLE, EXECUTION, TIMEOUT or CANCELED.
        """
        stamp_ns = self._node.get_clock().now().nanoseconds
        header = conversions.header(stamp_ns, self._config.map_frame)
        request = NavigateToPose.Goal(pose=PoseStamped(header=header, pose=conversions.pose_to_msg(goal)))
        whole_m = 0.0

        def follow(feedback: Any) -> None:
            nonlocal whole_m
            left_m = float(feedback.distance_remaining)
            whole_m = max(whole_m, left_m)
            run.moved_to(conversions.pose_from_msg(feedback.current_pose.pose))
            run.report("navigating", 1.0 - left_m / whole_m if whole_m > 0.0 else 0.0)

        base = self._config.base
        response = self._call.run(request, run, base.timeout_s, follow, base.silence_s)
        if response.status == GoalStatus.STATUS_SUCCEEDED:
            run.moved_to(goal)
            return
        code, said = _told_by(response.result)
        if response.status == GoalStatus.STATUS_CANCELED or code in _CONTROL_CODES:
            raise SkillFailure(FailureReason.EXECUTION, f"Nav2 stopped on the way ({said})")
        raise SkillFailure(FailureReason.UNREACHABLE, f"Nav2 found no way to the pose ({said})")


def _told_by(result: NavigateToPose.Result) -> tuple[int | None, str]:
    """Return the error code and what to say of it; Humble's result has neither a code nor a message."""
    code = getattr(result, "error_code", None)
    if code is None:
        return None, "it gives no error code"
    text = " ".join(str(getattr(result, "error_msg", "")).split())[:200]
    return int(code), f"error code {code}{': ' if text else ''}{text}"


# Another place to stand is at least so far from where the base is (m); it is looked for among so many.
_ELSEWHERE_M, _MANY = 0.15, 64


# Returns what a search is for, once memory has seen it.
Seen = Callable[[], "Target | None"]


class Doors(Protocol):
    """Opens containers for a search."""

    def open(self, container: Target, run: SkillRun) -> bool:
        """Open a container; return whether it had to be opened."""

    def close(self, container: Target, run: SkillRun) -> None:
        """Close it again."""


def _before_front(stand_off: StandOffConfig, base: BaseParameters, is_open: bool) -> StandOffConfig:
    """Return where to stand before a front: with room for what comes out of it, unless that is out already."""
    least, best, most = stand_off.reach_m
    room_m = 0.0 if is_open else base.front_room_m
    reach_m = (least + room_m, best + room_m, most + room_m)
    return stand_off.changed(reach_m=reach_m, square_weight=base.front_square_weight)


def _beside(base: Pose, target: Target) -> Pose:
    """Return a pose of the base at the height of a thing: on a slope or after a lift it is the same place beside it."""
    x, y = base.position[:2]
    return Pose.planar(float(x), float(y), base.yaw_rad, float(target.box.center[2]))


@dataclass(frozen=True, eq=False)
class Driving:
    """Turns things and places into poses for the base."""

    base: NavigationBase
    view: Surroundings
    lookup: TargetLookup
    config: SkillsParameters
    catalogue: ObjectCatalogue
    now_ns: Callable[[], int]
    earlier: EarlierPoses

    def go_to(self, target: Target, run: SkillRun, elsewhere: bool = False) -> None:
        """Drive to the best stand-off pose that Nav2 can reach; elsewhere: to another place than where the base is.

        Raises:
            SkillFailure: UNREACHABLE when there is none, or it is on another floor; else what the base fails with.
        """
        here = self.view.robot_pose()
        run.moved_to(here)
        if is_on_another_floor(target.box.center, here.position):
            message = f"{target.object_class} is on another floor, and nothing here takes the lift"
            raise SkillFailure(FailureReason.UNREACHABLE, message, target.object_id)
        where = self.config.stand_off
        if self._is_used_from_front(target):
            where = _before_front(where, self.config.base, ObjectState.OPENED in target.states)
        found = rank_stand_offs(target.box, self.view.costmap(), here, where, k=_MANY)
        if elsewhere:
            found = [one for one in found if np.linalg.norm((one.pose.position - here.position)[:2]) >= _ELSEWHERE_M]
        if not found:
            message = f"no free place within reach of {target.object_class}"
            raise SkillFailure(FailureReason.UNREACHABLE, message, target.object_id)
        ordered = self.earlier.ordered(
            PoseKind.STAND_OFF, target, found, lambda one: _beside(one.pose, target), run.tried
        )
        self._drive_to_one([one.pose for one in ordered[: self.config.base.candidates]], run)

    def _is_used_from_front(self, target: Target) -> bool:
        """Return whether a thing's class is opened or switched where it stands; what can be carried is mostly picked
        up, and an arm has the shorter way from near."""
        kind = self.catalogue.find(target.object_class)
        return (
            kind is not None and not kind.pickupable and (kind.can(Property.OPENABLE) or kind.can(Property.TOGGLEABLE))
        )

    def stood(self, target: Target, run: SkillRun, worked: bool) -> None:
        """Note whether the arm found a way to a thing from where the base stands."""
        run.tried.append(tried(PoseKind.STAND_OFF, target, _beside(self.view.robot_pose(), target), worked))

    def explore(self, asked: Exploration, stops: Sequence[FloatArray | Target], doors: Doors, run: SkillRun) -> Target:
        """Visit stops in order until memory has seen an object of the class since now, other than those passed over.

        stops: those that are asked for: places (x, y), or containers, which are looked into. One that cannot be reached
        is left out.

        Raises:
            SkillFailure: NOT_FOUND; UNREACHABLE when no stop could be reached.
        """
        seen_now = partial(self.lookup.seen_since, asked.target_class, self.now_ns(), asked.passed_over)
        unreachable = 0
        for stop in stops:
            try:
                if isinstance(stop, Target):
                    self.go_to(stop, run)
                else:
                    self._drive_to_one(self._poses_at(stop, run), run)
            except SkillFailure as failure:
                if failure.reason is not FailureReason.UNREACHABLE:
                    raise
                unreachable += 1
                continue
            run.explored_areas += 1
            if isinstance(stop, Target):
                seen = self._look_into(stop, seen_now, doors, run)
            else:
                seen = self._look_around(seen_now, run)
            if seen is not None:
                return seen
        if stops and unreachable == len(stops):
            raise SkillFailure(FailureReason.UNREACHABLE, f"none of {len(stops)} places can be reached")
        raise SkillFailure(FailureReason.NOT_FOUND, f"no {asked.target_class} seen at {len(stops)} places")

    def _poses_at(self, place: FloatArray, run: SkillRun) -> list[Pose]:
        here = self.view.robot_pose()
        run.moved_to(here)
        costmap, where = self.view.costmap(), self.config.stand_off
        rows, columns, inside = costmap.cells_at(place[None])
        if inside[0] and costmap.clearance_m()[rows[0], columns[0]] >= where.radius_m:
            way = place - here.position[:2]
            return [Pose.planar(float(place[0]), float(place[1]), float(np.arctan2(way[1], way[0])))]
        reach_m = (0.0, 0.0, self.config.base.place_within_m)
        near = StandOffConfig(reach_m=reach_m, radius_m=where.radius_m, clearance_m=where.clearance_m)
        spot = OrientedBox(np.array([*place, 0.0]), np.zeros(3))
        return [one.pose for one in rank_stand_offs(spot, costmap, here, near, k=self.config.base.candidates)]

    def _drive_to_one(self, poses: list[Pose], run: SkillRun) -> None:
        def go(pose: Pose) -> None:
            run.check()
            run.report("navigating", 0.0)
            self.base.drive(pose, run)
            self.view.catch_up()

        first_reachable(poses, go, "no free place there")

    def _look_into(self, container: Target, seen_now: Seen, doors: Doors, run: SkillRun) -> Target | None:
        opened = doors.open(container, run)
        seen = self._look(seen_now, run)
        if opened and seen is None:
            doors.close(container, run)
        return seen

    def _look_around(self, seen_now: Seen, run: SkillRun) -> Target | None:
        start = self.view.robot_pose()
        for step in range(self.config.explore.directions):
            if step:
                yaw = start.yaw_rad + step * 2.0 * np.pi / self.config.explore.directions
                self.base.drive(Pose.planar(start.position[0], start.position[1], yaw), run)
            seen = self._look(seen_now, run)
            if seen is not None:
                return seen
        return None

    def _look(self, seen_now: Seen, run: SkillRun) -> Target | None:
        deadline_s = time.monotonic() + self.config.explore.look_s
        while True:
            run.check()
            run.report("looking", 0.0)
            seen = seen_now()
            if seen is not None or time.monotonic() >= deadline_s:
                return seen
            time.sleep(self.config.explore.poll_s)
