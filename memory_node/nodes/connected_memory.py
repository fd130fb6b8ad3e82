"""A running robot for programs that are no nodes themselves: its memory, and instructions to its planner."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from robot_memory.action import ExecuteInstruction

from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector.robot_tasks import State, Task
from memory_node.nodes.conversions import model_cost_from_msg
from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError
from memory_node.nodes.inspected_views import NodeViews
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.spinning import spin

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


_WAIT_S = 10.0


@contextlib.contextmanager
def inspected(node_name: str, domain_id: int) -> Iterator[tuple[MemoryClient, NodeViews]]:
    """Join the node's domain for a while, and follow what the node shows of itself.

    Raises:
        PeerTimeoutError: no such node answers.
        RobotMemoryError: the domain cannot be joined.
    """
    with joined("memory_inspector", domain_id) as node:
        memory = MemoryClient(node, node_name)
        views = NodeViews(node, node_name, memory)
        memory.wait(_WAIT_S)
        yield memory, views


@contextlib.contextmanager
def commanded(domain_id: int) -> Iterator[InstructionClient]:
    """Join the robot's domain with a node that gives instructions; what runs at the end is cancelled.

    Raises:
        GoalStoppedError: no planner is there.
        RobotMemoryError: the domain cannot be joined.
    """
    # A node of its own: its sign of life must never wait for an answer of memory, or the robot stops.
    with joined("memory_agent", domain_id) as node, contextlib.closing(InstructionClient(node)) as robot:
        robot.wait_for_server(_WAIT_S)
        yield robot


@contextlib.contextmanager
def joined(own_name: str, domain_id: int) -> Iterator[Node]:
    """Give a node that spins in a thread.

    Raises:
        RobotMemoryError: the domain cannot be joined.
    """
    context = Context()
    try:
        rclpy.init(context=context, domain_id=domain_id)
    except RuntimeError as error:  # rclpy's own for what the environment or the arguments ask in vain
        raise RobotMemoryError(" ".join(str(error).split())) from error
    node = rclpy.create_node(own_name, context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=(executor,), name=own_name, daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown()
        thread.join(2.0)
        node.destroy_node()
        rclpy.try_shutdown(context=context)
