"""The action ExecuteSkill, both sides: a robot offers its skills, one goal at a time; a planner node calls them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.nodes import conversions
from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError
from memory_node.nodes.goal_server import Ending, GoalServer, GoalState, ServedGoal
from memory_node.nodes.qos import LATCHED
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.service_clients import PeerTimeoutError

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


# A robot whose skills node died is not sent more: nobody knows what its hand holds.
_REASONS = {
    Cause.REFUSED: FailureReason.INVALID_CALL,
    Cause.CANCELED: FailureReason.CANCELED,
    Cause.SERVER_GONE: FailureReason.CANCELED,
}


class SkillClient:
    """`SkillPort` over the ExecuteSkill action; a robot that does not answer is a failed skill, not an error.

    Args:
        node: the node that talks.
        running: what is running, here and elsewhere.
        action_name: the action to use.
        timeout_s: a skill that takes longer is cancelled and counts as failed with reason timeout.
        episode_id: of the episode that the caller records; "" for none: the robot may record it as a demonstration.
    """

    def __init__(
        self,
        node: Node,
        running: RunningGoals,
        action_name: str = "execute_skill",
        timeout_s: float = 300.0,
        episode_id: Callable[[], str] = lambda: "",
    ) -> None:
        self._timeout_s = timeout_s
        self._episode_id = episode_id
        self._client = GoalClient(node, ExecuteSkill, action_name, running)
        self.held_object = ""
        self._available: frozenset[str] | None = None
        topic = AVAILABLE.format(action_name)
        node.create_subscription(
            rm.AvailableSkills, topic, self._on_available, LATCHED, callback_group=ReentrantCallbackGroup()
        )
        self.is_canceled: Callable[[], bool] = lambda: False

    @property
    def skills(self) -> frozenset[str]:
        """The skills that the robot does; all of the library where it has not said."""
        return frozenset(SKILLS) if self._available is None else self._available

    @property
    def is_there(self) -> bool:
        """Whether a robot offers the action now."""
        return self._client.is_served

    def _on_available(self, message: rm.AvailableSkills) -> None:
        self._available = frozenset(message.skills)

    def wait(self, timeout_s: float) -> None:
        """Wait until a robot offers the action.

        Raises:
            PeerTimeoutError: none does within `timeout_s`, or `is_canceled` became true.
        """
        try:
            self._client.wait_for_server(timeout_s, self.is_canceled)
        except GoalStoppedError as error:
            raise PeerTimeoutError(str(error)) from error

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill on the robot to its end; once `is_canceled` is true it is stopped and ends as canceled."""
        goal = ExecuteSkill.Goal(call=conversions.call_to_msg(call), episode_id=self._episode_id())
        try:
            response = self._client.run(goal, self._timeout_s, self.is_canceled)
        except GoalStoppedError as error:
            if error.response is None or error.cause is not Cause.CANCELED:
                return SkillResult(call, False, _REASONS.get(error.cause, FailureReason.TIMEOUT), str(error))
            response = error.response
        self.held_object = response.result.held_object
        result = conversions.skill_result_from_msg(call, response.result)
        if response.status == GoalStatus.STATUS_CANCELED and result.reason is not FailureReason.CANCELED:
            # What it had changed by then, a grasp perhaps, is told all the same.
            return replace(result, success=False, reason=FailureReason.CANCELED, message="canceled")
        return result
