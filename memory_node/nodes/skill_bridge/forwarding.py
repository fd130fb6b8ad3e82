"""Skills that the user's own action servers do: goals of type ExecuteSkill are handed on, others made by a map."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.node import Node
from robot_memory.action import ExecuteSkill

from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult
from memory_node.nodes import conversions
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.action_call import ActionCall
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.mapped_actions import MappedActions
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.target import Target


class ForwardedSkills:
    """The skills with an action of their own in the parameters `actions`, or in the file of `action_map`."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._timeout_s = config.action_timeout_s
        self._calls = {
            skill: ActionCall(node, ExecuteSkill, name, f"actions.{skill}", config.deadlines_s, running)
            for skill, name in vars(config.actions).items()
            if name
        }
        self._mapped = MappedActions(node, config, running)

    def __contains__(self, skill: str) -> bool:
        return skill in self._calls or skill in self._mapped

    def run(self, call: SkillCall, run: SkillRun, targets: Mapping[str, Target] = MappingProxyType({})) -> SkillResult:
        """Return the result of a skill that succeeded. targets: the things that it is about, by its arguments' names.

        Raises:
            SkillFailure: with the server's reason.
        """
        if call.skill not in self._calls:
            self._mapped.run(call.skill, targets, run)
            return SkillResult(call, True)

        def follow(feedback: Any) -> None:
            run.report(feedback.phase or "manipulating", feedback.progress)

        goal = ExecuteSkill.Goal(call=conversions.call_to_msg(call), episode_id=run.episode_id)
        response = self._calls[call.skill].run(goal, run, self._timeout_s, follow)
        result = conversions.skill_result_from_msg(call, response.result)
        run.distance_m += result.distance_m
        run.explored_areas += result.explored_areas
        if not result.success:
            run.changed(result.changes)
            raise SkillFailure(result.reason, result.message, result.object_id)
        if response.status != GoalStatus.STATUS_SUCCEEDED:
            raise SkillFailure(FailureReason.EXECUTION, f"{call.skill} ended with status {response.status}")
        return result
