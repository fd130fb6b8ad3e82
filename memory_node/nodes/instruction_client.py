"""Gives instructions to the planner node, for programs that are no nodes themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rclpy.node import Node
from robot_memory.action import ExecuteInstruction

from memory_node.inspector.robot_tasks import State, Task
from memory_node.nodes.conversions import model_cost_from_msg
from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError
from memory_node.nodes.running_goals import RunningGoals

ACTION = "execute_instruction"
# An instruction that takes longer is cancelled.
_LONGEST_S = 3600.0


class InstructionClient:
    """A client of the action ExecuteInstruction; other threads spin its node."""

    def __init__(self, node: Node) -> None:
        self._running = RunningGoals(node)
        self._goals = GoalClient(node, ExecuteInstruction, ACTION, self._running)

    def close(self) -> None:
        """Have nothing running any more."""
        self._running.close()

    def wait_for_server(self, timeout_s: float) -> None:
        """Wait until a planner offers the action.

        Raises:
            GoalStoppedError: none does.
        """
        self._goals.wait_for_server(timeout_s)

    def run(
        self,
        instruction: str,
        memory: str = "",
        on_feedback: Callable[[Any], None] = lambda feedback: None,
        timeout_s: float = _LONGEST_S,
        is_canceled: Callable[[], bool] = lambda: False,
    ) -> ExecuteInstruction.Result:
        """Send one instruction and return its result; one that takes too long or is canceled is stopped.

        Raises:
            GoalStoppedError: the planner refuses it, is gone, or does not say how far it came.
        """
        goal = ExecuteInstruction.Goal(instruction=instruction, memory=memory)
        try:
            return self._goals.run(goal, timeout_s, is_canceled, on_feedback).result
        except GoalStoppedError as error:
            if error.cause not in (Cause.LATE, Cause.CANCELED) or error.response is None:
                raise
            result = error.response.result
            if error.cause is Cause.LATE or not result.message:
                result.message = str(error)
            return result

    def carry_out(self, task: Task, tell: Callable[[Task], None], is_canceled: Callable[[], bool]) -> Task:
        """Carry out an agent's instruction; see `Robot.carry_out`."""

        def on_feedback(feedback: Any) -> None:
            plan, notes = tuple(feedback.plan), tuple(feedback.notes)
            tell(replace(task, step=int(feedback.step), skill=feedback.current_skill, plan=plan, notes=notes))

        result = self.run(task.instruction, on_feedback=on_feedback, is_canceled=is_canceled)
        state: State = "asks" if result.needs_answer else "done" if result.success else "failed"
        return replace(
            task,
            state="canceled" if is_canceled() and state == "failed" else state,
            step=len(result.executed),
            notes=tuple(result.notes),
            message=result.message or result.answer,
            question=result.question,
            choices=tuple(result.choices),
            episode_id=result.episode_id,
            cost=model_cost_from_msg(result.metrics),
            robot_s=float(result.metrics.duration),
        )
