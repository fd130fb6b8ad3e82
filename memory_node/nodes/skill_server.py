"""Offers skills as ExecuteSkill, one goal at a time, for any executor."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.nodes import conversions
from memory_node.nodes.goal_server import Ending, GoalServer, GoalState, ServedGoal
from memory_node.nodes.qos import LATCHED
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.waiting import PeerTimeoutError

# The topic, beside an action of this name.
AVAILABLE = "{}/available"


class SkillGoal:
    """One call of a skill, as the one who performs it sees it."""

    def __init__(self, goal: ServedGoal, stamp_ns: Callable[[], int], frame: str) -> None:
        self.call: SkillCall = conversions.call_from_msg(goal.request.call)
        self.episode_id = str(goal.request.episode_id)
        self._goal = goal
        self._stamp_ns = stamp_ns
        self._frame = frame

    def is_canceled(self) -> bool:
        """Return whether the robot is to stop."""
        return self._goal.is_canceled

    def report(self, phase: str, progress: float, pose: Pose | None, distance_m: float) -> None:
        """Tell the caller how far it is; phase: navigating, looking or manipulating; pose: of the robot in map."""
        feedback = ExecuteSkill.Feedback(phase=phase, progress=progress, distance=distance_m)
        if pose is not None:
            header = conversions.header(self._stamp_ns(), self._frame)
            feedback.pose = PoseStamped(header=header, pose=conversions.pose_to_msg(pose))
        self._goal.publish_feedback(feedback)


@dataclass(eq=False)
class SkillServer:
    """The action execute_skill of a node.

    Args:
        node: the node that offers it.
        perform: runs a skill to its end, soon with reason CANCELED once the goal is canceled. A
            RobotMemoryError or ValueError ends the goal as an invalid call; one of a silent peer, as a timeout.
        held_class: the class of what the hand holds, "" for nothing.
        stamp_ns: the time of feedback.
        frame: the frame of poses in feedback.
        running: what is running, here and elsewhere.
        available: the skills that it does; planners are told on execute_skill/available.

    Attributes:
        goals: the action's server.
    """

    node: Node
    perform: Callable[[SkillGoal], SkillResult]
    held_class: Callable[[], str]
    stamp_ns: Callable[[], int]
    frame: str
    running: RunningGoals
    available: Collection[str]

    def __post_init__(self) -> None:
        name = "execute_skill"
        self.goals = GoalServer(self.node, ExecuteSkill, name, self.running, self._carry_out, self._cut_short)
        self._told = self.node.create_publisher(rm.AvailableSkills, AVAILABLE.format(name), LATCHED)
        self._told.publish(rm.AvailableSkills(skills=sorted(self.available)))

    def close(self, timeout_s: float = 1.5) -> None:
        """Stop the skill that runs, tell its caller, and offer the action no more."""
        self.goals.end()
        self.goals.wait_idle(timeout_s)
        self.goals.close()

    def _carry_out(self, goal: ServedGoal) -> Ending:
        try:
            result = self.perform(SkillGoal(goal, self.stamp_ns, self.frame))
        except (RobotMemoryError, ValueError) as error:
            self.node.get_logger().error(str(error))
            late = isinstance(error, PeerTimeoutError)
            reason = FailureReason.TIMEOUT if late else FailureReason.INVALID_CALL
            return Ending(self._failed(reason, str(error)), GoalState.ABORTED)
        self.node.get_logger().info(f"{result.call}: {'done' if result.success else result.reason} {result.message}")
        state = GoalState.SUCCEEDED if result.success else GoalState.ABORTED
        if result.reason is FailureReason.CANCELED and goal.is_canceled:
            message = f"{goal.cancel_reason}; {result.message}".removesuffix("; canceled")
            result, state = replace(result, message=message), GoalState.CANCELED
        return Ending(conversions.skill_result_to_msg(result, self.held_class()), state)

    def _cut_short(self, message: str) -> ExecuteSkill.Result:
        return self._failed(FailureReason.CANCELED if self.goals.is_ending else FailureReason.EXECUTION, message)

    def _failed(self, reason: FailureReason, message: str) -> ExecuteSkill.Result:
        return ExecuteSkill.Result(reason=str(reason), message=message, held_object=self.held_class())
