"""Runs a goal on another action server to its end, with deadlines; stops it when the skill is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from memory_node.domain.skill import FailureReason
from memory_node.nodes.skill_bridge.outcome import SkillFailure, SkillRun

_POLL_S = 0.05


class ActionCall:
    """A client of one action server.

    Args:
        node: the node that talks; other threads spin it.
        action_type: the action's class.
        name: the action's name.
        key: the parameter that names it, for messages.
        connect_s: how long the server may take to appear, and to accept a goal.
        stop_s: how long it may take to confirm that it stopped.
    """

    def __init__(self, node: Node, action_type: Any, name: str, key: str, connect_s: float, stop_s: float) -> None:
        self._logger = node.get_logger()
        self._label = f"{name} (parameter {key})"
        self._connect_s = connect_s
        self._stop_s = stop_s
        self._client = ActionClient(node, action_type, name, callback_group=ReentrantCallbackGroup())

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
            SkillFailure: CANCELED or TIMEOUT, once the server has been told to stop; EXECUTION: it refused the goal.
        """
        self._connect(run)
        heard_s = time.monotonic()

        def hear(message: Any) -> None:
            nonlocal heard_s
            heard_s = time.monotonic()
            on_feedback(message.feedback)

        handle = self._send(goal, run, hear)
        ended, done = handle.get_result_async(), threading.Event()
        ended.add_done_callback(lambda _: done.set())
        heard_s = started_s = time.monotonic()
        while not done.wait(_POLL_S):
            now_s = time.monotonic()
            if run.canceled:
                raise SkillFailure(FailureReason.CANCELED, f"canceled by the caller; {self._stop(handle, done)}")
            if now_s - started_s > timeout_s:
                stopped = self._stop(handle, done)
                raise SkillFailure(FailureReason.TIMEOUT, f"{self._label} took more than {timeout_s:g} s; {stopped}")
            if silence_s is not None and now_s - heard_s > silence_s:
                stopped = self._stop(handle, done)
                raise SkillFailure(FailureReason.TIMEOUT, f"{self._label} was silent for {silence_s:g} s; {stopped}")
        return ended.result()

    def _connect(self, run: SkillRun) -> None:
        deadline = time.monotonic() + self._connect_s
        while not self._client.wait_for_server(timeout_sec=_POLL_S):
            run.check()
            if time.monotonic() > deadline:
                raise SkillFailure(FailureReason.TIMEOUT, f"no server offers {self._label}")

    def _send(self, goal: Any, run: SkillRun, on_feedback: Callable[[Any], None]) -> Any:
        answered, done = self._client.send_goal_async(goal, feedback_callback=on_feedback), threading.Event()
        answered.add_done_callback(lambda _: done.set())
        deadline = time.monotonic() + self._connect_s
        while not done.wait(_POLL_S):
            late = time.monotonic() > deadline
            if run.canceled or late:
                # Whoever accepts it from now on is told to stop at once.
                answered.add_done_callback(_cancel_accepted)
                run.check()
                raise SkillFailure(FailureReason.TIMEOUT, f"{self._label} did not answer the goal")
        handle = answered.result()
        if not handle.accepted:
            raise SkillFailure(FailureReason.EXECUTION, f"{self._label} refused the goal")
        return handle

    def _stop(self, handle: Any, done: threading.Event) -> str:
        handle.cancel_goal_async()
        if done.wait(self._stop_s):
            return "it has stopped"
        self._logger.error(f"{self._label} did not confirm within {self._stop_s:g} s that it stopped")
        return f"IT DID NOT CONFIRM that it stopped within {self._stop_s:g} s"


def _cancel_accepted(answered: Any) -> None:
    handle = answered.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()
