"""The skills node: ExecuteSkill goals in; Nav2, MoveIt 2, gripper and the user's action goals out."""

from __future__ import annotations

import threading
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory.action import ExecuteSkill

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillResult
from memory_node.nodes import conversions
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.parameters import declare
from memory_node.nodes.skill_bridge.arm import CommandGripper, MoveGroupArm
from memory_node.nodes.skill_bridge.base import NavigationBase
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.driving import Driving
from memory_node.nodes.skill_bridge.forwarding import ForwardedSkills
from memory_node.nodes.skill_bridge.manipulation import Manipulation
from memory_node.nodes.skill_bridge.object_lookup import TargetLookup
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.performer import SkillPerformer
from memory_node.nodes.skill_bridge.preconditions import Preconditions
from memory_node.nodes.skill_bridge.surroundings import Surroundings
from memory_node.nodes.skill_bridge.target import Hand
from memory_node.nodes.waiting import PeerTimeoutError


class SkillsNode(Node):
    """Offers a real robot's skills as execute_skill; one goal at a time."""

    def __init__(self) -> None:
        super().__init__("skills")
        self._config = declare(self, SkillsParameters)
        self._hand = Hand()
        self._performer = self._make_performer()
        self._busy = threading.Lock()
        self._server = ActionServer(
            self,
            ExecuteSkill,
            "execute_skill",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        self.get_logger().info("skills of the robot at execute_skill")

    def _make_performer(self) -> SkillPerformer:
        config = self._config
        catalogue = load_catalogue(config.label_space)
        view = Surroundings(self, config)
        lookup = TargetLookup(MemoryClient(self, config.memory_node), self._hand, view.robot_pose)
        driving = manipulation = None
        if config.base.action:
            base = NavigationBase(self, config)
            driving = Driving(base, view, lookup, config.base, config.explore, config.stand_off, self._now_ns)
        if config.arm.action:
            manipulation = Manipulation(
                MoveGroupArm(self, config, view),
                CommandGripper(self, config),
                self._hand,
                lookup,
                catalogue,
                view.robot_pose,
                self._now_ns,
                (config.arm, config.gripper),
                config.base.reach_m,
            )
        actions = ForwardedSkills(self, config)
        rules = Preconditions(catalogue, self._hand, lookup.support_of, view.robot_pose, config.base.reach_m)
        return SkillPerformer(driving, manipulation, actions, lookup, self._hand, rules, catalogue, self._now_ns)

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _on_goal(self, goal: ExecuteSkill.Goal) -> GoalResponse:
        if not self._busy.acquire(blocking=False):
            self.get_logger().warning(f"refused {goal.call.skill}: another skill is running")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _execute(self, goal: Any) -> ExecuteSkill.Result:
        try:
            result = self._run(goal)
        except (RobotMemoryError, ValueError) as error:
            self.get_logger().error(str(error))
            goal.abort()
            reason = FailureReason.TIMEOUT if isinstance(error, PeerTimeoutError) else FailureReason.INVALID_CALL
            return ExecuteSkill.Result(reason=str(reason), message=str(error), held_object=self._hand.held_class)
        finally:
            self._busy.release()
        self._finish(goal, result)
        return conversions.skill_result_to_msg(result, self._hand.held_class)

    def _run(self, goal: Any) -> SkillResult:
        def report(phase: str, progress: float, pose: Pose | None, distance_m: float) -> None:
            feedback = ExecuteSkill.Feedback(phase=phase, progress=progress, distance=distance_m)
            if pose is not None:
                header = conversions.header(self._now_ns(), self._config.map_frame)
                feedback.pose = PoseStamped(header=header, pose=conversions.pose_to_msg(pose))
            goal.publish_feedback(feedback)

        run = SkillRun(lambda: goal.is_cancel_requested, report, goal.request.episode_id)
        return self._performer.execute(conversions.call_from_msg(goal.request.call), run)

    def _finish(self, goal: Any, result: SkillResult) -> None:
        self.get_logger().info(f"{result.call}: {'done' if result.success else result.reason} {result.message}")
        if result.success:
            goal.succeed()
        elif result.reason is FailureReason.CANCELED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
