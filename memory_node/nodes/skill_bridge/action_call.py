"""Runs a goal of a skill on another action server to its end; what stops it is the skill's failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError, has_succeeded
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.outcome import SkillRun

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
            if error.response is not None and has_succeeded(error.response):
                return error.response  # it was done before it could be stopped, so it counts as done
            raise SkillFailure(_REASONS.get(error.cause, FailureReason.TIMEOUT), str(error)) from error
