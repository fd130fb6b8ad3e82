"""A simulated robot that speaks Nav2, MoveIt and gripper actions, and a memory service, for the bridge's tests."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from control_msgs.action import GripperCommand
from moveit_msgs.action import MoveGroup
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid
from plain_search import find
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_memory import srv
from robot_memory.action import ExecuteSkill
from tf2_ros import TransformBroadcaster

from memory_node.domain.answer import FindQuery
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.nodes import conversions
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.graph import SceneGraph


def thing(name: str, x: float, y: float, z: float, side: tuple[float, float, float], **more: Any) -> SceneObject:
    """Return an object of the scene graph; `states` as ObjectState."""
    states = tuple(StateBelief(state, 0.9, 1) for state in more.pop("states", ()))
    box = OrientedBox(np.array([x, y, z]), np.array(side))
    return SceneObject(
        f"id-{name}", {name: 1.0}, box, np.eye(3) * 1e-4, more.pop("existence", 0.9), 1, 1, states=states, **more
    )


def kitchen() -> list[SceneObject]:
    """Return a table with an apple, a fridge that holds an egg, a sink, a lamp, and a mug far away."""
    return [
        thing("DiningTable", 2.0, 0.0, 0.4, (0.8, 1.2, 0.8)),
        thing("Apple", 1.75, 0.2, 0.84, (0.07, 0.07, 0.08), support_id="id-DiningTable"),
        thing("Microwave", 2.0, -1.75, 0.95, (0.4, 0.5, 0.3), states=(ObjectState.CLOSED,)),
        thing("Fridge", -2.0, 1.8, 0.9, (0.6, 0.6, 1.8), states=(ObjectState.CLOSED,)),
        thing("Egg", -2.0, 1.8, 0.9, (0.05, 0.05, 0.06), support_id="id-Fridge", inside=True),
        thing("Mug", -2.0, -2.0, 0.8, (0.08, 0.08, 0.1)),
        thing("SinkBasin", 1.0, 2.2, 0.8, (0.5, 0.4, 0.2)),
        thing("Faucet", 1.0, 2.45, 1.0, (0.1, 0.1, 0.2)),
        thing("DeskLamp", 2.2, -0.4, 0.95, (0.15, 0.15, 0.3), support_id="id-DiningTable"),
    ]


def _agree(request: Any, response: Any) -> Any:
    """Answer a request to memory as one that takes everything and has nothing to say."""
    if hasattr(response, "success"):
        response.success = True
    if hasattr(response, "episode_id"):
        response.episode_id = "an-episode"
    return response


class SimulatedRobot:
    """Servers on a node of its own; the attributes say how they behave and what they were asked for."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self._tf = TransformBroadcaster(node)
        self.reset()
        group = ReentrantCallbackGroup()
        servers = (
            (NavigateToPose, "navigate_to_pose", self._navigate),
            (MoveGroup, "move_action", self._move_arm),
            (GripperCommand, "gripper_controller/gripper_cmd", self._move_gripper),
            (ExecuteSkill, "own_skill", self._own_skill),
        )
        self._servers = [
            ActionServer(
                node, kind, name, run, cancel_callback=lambda goal: CancelResponse.ACCEPT, callback_group=group
            )
            for kind, name, run in servers
        ]
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._map = node.create_publisher(OccupancyGrid, "global_costmap/costmap", latched)
        self._publish_map()
        node.create_service(srv.FindObjects, "memory/find_objects", self._find, callback_group=group)
        node.create_service(srv.RecallObjects, "memory/recall_objects", self._recall, callback_group=group)
        node.create_service(srv.LocateObject, "memory/locate_object", self._locate, callback_group=group)
        node.create_service(srv.GetSceneGraph, "memory/get_scene_graph", self._graph, callback_group=group)
        for kind, name in (
            (srv.Remember, "remember"),
            (srv.RecallPast, "recall_past"),
            (srv.RankSearchAreas, "rank_search_areas"),
            (srv.AskMemory, "ask_memory"),
            (srv.StartEpisode, "start_episode"),
            (srv.RecordStep, "record_step"),
            (srv.EndEpisode, "end_episode"),
            (srv.CompileContext, "compile_context"),
        ):
            node.create_service(kind, f"memory/{name}", _agree, callback_group=group)
        self._timer = node.create_timer(0.05, self._publish_pose, callback_group=group)

    def close(self) -> None:
        self._timer.cancel()
        for server in self._servers:
            server.destroy()

    def reset(self) -> None:
        self.pose = Pose.planar(0.0, 0.0, 0.0)
        self.objects = kitchen()
        self.seen: Callable[[], list[SceneObject]] = lambda: self.objects
        self.drives: list[Pose] = []
        self.arm_goals: list[Any] = []
        self.grips: list[float] = []
        self.own_calls: list[Any] = []
        self.aborted_drives = 0  # so many drives end without a way
        self.silent = self.slow = self.arm_waits = self.gripper_waits = self.gripper_stuck = False
        self.tf_late_s = 0.0  # the pose reaches TF's listeners so much later
        self.grasped_position = 0.03
        self.slips_after = 1000  # so many motions of the gripper later nothing is between its fingers
        self.arm_codes: list[int] = []  # MoveIt error codes of the next motions; then success
        self.shown_at: dict[int, str] = {}  # after so many drives memory sees a class anew
        self.own_reason = "none"
        self.drive_canceled = threading.Event()
        self.arm_canceled = threading.Event()
        self.gripper_canceled = threading.Event()

    @property
    def asked(self) -> int:
        """How many goals base, arm, gripper and the own action have got."""
        return len(self.drives) + len(self.arm_goals) + len(self.grips) + len(self.own_calls)

    def _publish_pose(self) -> None:
        stamp_ns = self.node.get_clock().now().nanoseconds
        told = conversions.transform_to_msg(self.pose, "map", "base_link", stamp_ns)
        if self.tf_late_s:
            threading.Timer(self.tf_late_s, self._tf.sendTransform, (told,)).start()
        else:
            self._tf.sendTransform(told)

    def _publish_map(self) -> None:
        cells = np.zeros((120, 120), np.int8)
        for found in self.objects:
            corners = np.floor((found.box.footprint() + 3.0) / 0.05).astype(int)
            (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
            cells[y0 : y1 + 1, x0 : x1 + 1] = 100
        self._map.publish(conversions.grid_to_msg(OccupancyMap(cells, 0.05, Pose.planar(-3.0, -3.0, 0.0)), 1))

    def _navigate(self, goal: Any) -> Any:
        target = conversions.pose_from_msg(goal.request.pose.pose)
        self.drives.append(target)
        steps = 1500 if self.slow or self.silent else 4
        start = self.pose
        for step in range(1, steps + 1):
            if goal.is_cancel_requested:
                self.drive_canceled.set()
                goal.canceled()
                return NavigateToPose.Result()
            time.sleep(0.02)
            if self.silent:
                continue
            x, y = start.position[:2] + step / steps * (target.position[:2] - start.position[:2])
            self.pose = Pose.planar(x, y, target.yaw_rad)
            feedback = NavigateToPose.Feedback(distance_remaining=float(np.hypot(*(target.position[:2] - (x, y)))))
            feedback.current_pose.pose = conversions.pose_to_msg(self.pose)
            goal.publish_feedback(feedback)
        if len(self.drives) <= self.aborted_drives:
            self.pose = start
            goal.abort()
            result = NavigateToPose.Result()
            if hasattr(result, "error_code"):  # not on Humble
                result.error_code = 208
            return result
        self.pose = target
        self._publish_pose()
        self._see(self.shown_at.get(len(self.drives), ""))
        goal.succeed()
        return NavigateToPose.Result()

    def _see(self, name: str) -> None:
        stamp_ns = self.node.get_clock().now().nanoseconds
        self.objects = [o.changed(last_seen_ns=stamp_ns) if o.class_name == name else o for o in self.objects]

    def _move_arm(self, goal: Any) -> Any:
        self.arm_goals.append(goal.request)
        result = MoveGroup.Result()
        for _ in range(200 if self.arm_waits else 0):
            if goal.is_cancel_requested:
                self.arm_canceled.set()
                goal.canceled()
                result.error_code.val = -7
                return result
            time.sleep(0.02)
        result.error_code.val = self.arm_codes.pop(0) if self.arm_codes else 1
        if result.error_code.val == 1:
            goal.succeed()
        else:
            goal.abort()
        return result

    def _move_gripper(self, goal: Any) -> Any:
        wanted = goal.request.command.position
        self.grips.append(wanted)
        for _ in range(200 if self.gripper_waits else 0):
            if goal.is_cancel_requested:
                self.gripper_canceled.set()
                goal.canceled()
                return GripperCommand.Result(position=0.02)
            time.sleep(0.02)
        if self.gripper_stuck:
            goal.abort()
            return GripperCommand.Result(position=0.01, stalled=True)
        between = self.grasped_position if len(self.grips) <= self.slips_after else 0.0
        position = max(wanted, between) if wanted == 0.0 else wanted
        goal.succeed()
        return GripperCommand.Result(position=position, stalled=position != wanted, reached_goal=position == wanted)

    def _own_skill(self, goal: Any) -> Any:
        self.own_calls.append(goal.request.call)
        if self.own_reason != "none":
            goal.abort()
            return ExecuteSkill.Result(success=False, reason=self.own_reason, message="as it was told")
        goal.succeed()
        return ExecuteSkill.Result(success=True, reason="none")

    def _known(self) -> SceneGraph:
        graph = SceneGraph()
        for known in self.seen():
            graph.add_object(known)
        return graph

    def _find(self, request: Any, response: Any) -> Any:
        near = conversions.point_from_msg(request.position) if request.near_position else None
        query = FindQuery(object_class=request.object_class, near=near, k=request.k)
        self._answer(query, response)
        return response

    def _recall(self, request: Any, response: Any) -> Any:
        self._answer(FindQuery(object_class=request.object_class, k=request.k), response)
        return response

    def _locate(self, request: Any, response: Any) -> Any:
        response.memory = "long_term"
        self._answer(FindQuery(object_class=request.object_class, k=request.k), response)
        return response

    def _answer(self, query: FindQuery, response: Any) -> None:
        found = find(self._known(), query, self.node.get_clock().now().nanoseconds)
        response.answers = [conversions.answer_to_msg(answer) for answer in found.answers]
        response.status = conversions.status_to_msg(found.status, found.explanation)

    def _graph(self, request: Any, response: Any) -> Any:
        objects = () if request.support_id else tuple(self.seen())  # nothing lies on anything, the hand is empty
        response.graph = conversions.snapshot_to_msg(SceneSnapshot(1, objects=objects))
        response.success = True
        return response
