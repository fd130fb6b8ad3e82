"""An action server for one goal at a time, which stops it when its caller or its own node goes away."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from memory_node.domain.process import Faults
from memory_node.nodes.diagnostics import Diagnosis
from memory_node.nodes.running_goals import RunningGoals

_POLL_S = 0.02
_GRAPH_POLL_S, _MISSED_LOOKS = 0.15, 2
# How long an ending node waits for its goal; after that the server answers for it (s).
_PATIENCE_S = 1.0
# A result leaves after its goal has ended, by a thread of ROS's; who announces no goals does not say that it has come.
_RESULT_LEAVES_S = 0.3
# ROS never begins a goal whose acceptance it could not send: another one may come after this time.
_BEGINS_S = 2.0
# A client that asks again at once would fill the log.
_REFUSALS_TOLD_EVERY_S = 1.0


class GoalState(Enum):
    """How a goal ended, as the action's status says."""

    SUCCEEDED = "succeeded"
    CANCELED = "canceled"
    ABORTED = "aborted"


@dataclass(frozen=True)
class Ending:
    """The end of a goal: the action's result message, and the state."""

    result: Any
    state: GoalState


class ServedGoal:
    """A goal as the one who carries it out sees it."""

    def __init__(self, handle: Any) -> None:
        self.request = handle.request
        self.id = bytes(handle.goal_id.uuid)
        self.ending: Ending | None = None
        self.done = threading.Event()
        self._handle = handle
        self._reason = ""
        self._canceled_s = 0.0

    @property
    def cancel_reason(self) -> str:
        """Why the goal is to stop, in words; "" while it is to go on."""
        if not self._reason and self._handle.is_cancel_requested:
            self.cancel("canceled by the caller")
        return self._reason

    @property
    def is_canceled(self) -> bool:
        """Whether the goal is to stop."""
        return bool(self.cancel_reason)

    @property
    def canceled_for_s(self) -> float:
        """Seconds since the goal was told to stop; 0 while it is to go on."""
        return time.monotonic() - self._canceled_s if self._canceled_s else 0.0

    def cancel(self, reason: str) -> None:
        """Tell the goal to stop; the first reason stays."""
        if not self._reason:
            self._reason, self._canceled_s = reason, time.monotonic()

    def publish_feedback(self, feedback: Any) -> None:
        """Tell the caller how it is going; nothing once the goal was answered."""
        if not self.done.is_set() and self._handle.is_active:
            self._handle.publish_feedback(feedback)


@dataclass(eq=False)
class GoalServer:
    """Runs goals in a thread each, so that no wait of theirs can keep a node from ending.

    A goal is cancelled when its caller asks for it, when the caller is gone, and when the node is to end. RunningGoals
    tells that a caller is gone; one that announces nothing there is gone when the action has no client left.

    Args:
        node: the node that offers the action; other threads spin it.
        action_type: the action's class.
        name: the action's name.
        running: what is running, here and elsewhere.
        carry_out: does it; ends soon after the goal's cancel_reason is set.
        result_of_failure: the result message of a goal that cannot say itself how it ended, from a message for people.
        refusal: why a goal is not accepted; "" for one that is.

    Attributes:
        is_ending: whether the node is to end.
    """

    node: Node
    action_type: Any
    name: str
    running: RunningGoals
    carry_out: Callable[[ServedGoal], Ending]
    result_of_failure: Callable[[str], Any]
    refusal: Callable[[Any], str] = lambda request: ""

    def __post_init__(self) -> None:
        self.is_ending = False
        self._faults = Faults(lambda text: self.node.get_logger().error(text))
        self._counts: Counter[str] = Counter()
        self._turn = threading.Lock()
        # The request that was accepted and has not ended, and the goal once it is carried out.
        self._accepted: Any = None
        self._accepted_s = -math.inf
        self._goal: ServedGoal | None = None
        self._last_id, self._ended_s = b"", -math.inf
        self.running.servers.append(self)
        self._server = ActionServer(
            self.node,
            self.action_type,
            self.name,
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    @property
    def is_idle(self) -> bool:
        """Whether no goal is being carried out, and of an ending node whether who sent the last one knows its end, or
        should by now."""
        if self._is_taken or not self.is_ending:
            return not self._is_taken
        asker = self.running.other_side(self._last_id)
        if asker is None:
            return time.monotonic() - self._ended_s > _RESULT_LEAVES_S
        return asker.is_gone

    def diagnosis(self) -> Diagnosis:
        """Return how many goals were refused and how many ended in which state, and what failed by internal errors."""
        faults = self._faults.counts()
        failures = sum(faults.values())
        problem = f"{self.name} failed {failures} times by internal errors, which the log tells"
        figures = {"running": not self.is_idle, **self._counts, **{f"failed.{name}": n for name, n in faults.items()}}
        return Diagnosis(figures, (problem,) if failures else ())

    def end(self) -> None:
        """Accept nothing more and tell the running goal to stop; `is_idle` says when it has."""
        self.is_ending = True
        if self._goal is not None:
            self._goal.cancel(f"the node {self.node.get_name()} is being stopped")

    def close(self) -> None:
        """Offer the action no more; nothing may be running."""
        self._server.destroy()
        self.running.servers.remove(self)

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until the server is idle; False when it is not after `timeout_s`."""
        deadline_s = time.monotonic() + timeout_s
        while not self.is_idle and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
        return self.is_idle

    def _on_goal(self, request: Any) -> GoalResponse:
        refusal = "the node is being stopped" if self.is_ending else self._refusal_of(request)
        with self._turn:
            if not refusal and self._is_taken:
                refusal = "another goal is being carried out"
            if not refusal:
                self._accepted, self._accepted_s = request, time.monotonic()
        if refusal:
            self._counts["refused"] += 1
            told = f"{self.name} refused a goal: {refusal}"
            self.node.get_logger().warning(told, throttle_duration_sec=_REFUSALS_TOLD_EVERY_S)
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    @property
    def _is_taken(self) -> bool:
        """Whether a goal is being carried out, or was accepted just now."""
        begins = self._accepted is not None and time.monotonic() - self._accepted_s < _BEGINS_S
        return begins or self._goal is not None

    def _refusal_of(self, request: Any) -> str:
        try:
            return self.refusal(request)
        except Exception as error:  # the boundary of the node: an executor would end with it
            self._faults.note(f"{self.name} request", error)
            return f"internal error: {type(error).__name__}"

    def _execute(self, handle: Any) -> Any:
        goal = ServedGoal(handle)
        with self._turn:
            if handle.request is not self._accepted:  # it began too late, and another one has its turn
                handle.abort()
                return self.result_of_failure(f"{self.name} did not begin within {_BEGINS_S:g} s")
            self._goal = goal
        try:
            with self.running.carrying_out(goal.id):
                if self.is_ending:
                    self.end()
                threading.Thread(target=self._work, args=(goal,), name=self.name, daemon=True).start()
                ending = self._attend(goal)
            self._counts[ending.state.value] += 1
            self._finish(handle, ending.state)
            return ending.result
        finally:
            goal.done.set()
            if self.running.other_side(goal.id) is None:
                self._ended_s = time.monotonic()
            self._last_id = goal.id
            self._accepted = self._goal = None

    def _work(self, goal: ServedGoal) -> None:
        try:
            goal.ending = self.carry_out(goal)
        except Exception as error:  # the boundary of the node: the waiting client must get an answer
            if not goal.done.is_set():
                self._faults.note(self.name, error)
                message = f"{type(error).__name__}: {error}"
                goal.ending = Ending(self.result_of_failure(message), GoalState.ABORTED)
        goal.done.set()

    def _attend(self, goal: ServedGoal) -> Ending:
        """Wait for the goal's end and return it; meanwhile check that its client is still there."""
        clients = _UnannouncedClients(self.running, self.node.resolve_topic_name(f"{self.name}/_action/feedback"))
        while not goal.done.wait(_POLL_S):
            if not goal.is_canceled:
                asker = self.running.other_side(goal.id)
                lost = asker.node if asker is not None and asker.is_gone else ""
                if asker is None and clients.have_left():
                    lost = "who sent the goal"
                if lost:
                    self.node.get_logger().error(f"{self.name}: {lost} is gone: stopping")
                    goal.cancel(f"{lost} is gone")
            elif self.is_ending and goal.canceled_for_s > _PATIENCE_S:
                message = f"{goal.cancel_reason}; it did not end within {_PATIENCE_S:g} s"
                return Ending(self.result_of_failure(message), GoalState.CANCELED)
        assert goal.ending is not None
        return goal.ending

    def _finish(self, handle: Any, state: GoalState) -> None:
        if state is GoalState.SUCCEEDED:
            handle.succeed()
        elif state is GoalState.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:  # an action has the state "canceled" only for what its client asked to cancel
            handle.abort()


class _UnannouncedClients:
    """The nodes that may have sent a goal that nobody announced: those that subscribe to the action's feedback."""

    def __init__(self, running: RunningGoals, topic: str) -> None:
        self.running = running
        self._topic = topic
        self._asked_s = 0.0
        # Looks without one since there was one; None: there was none yet.
        self._missed: int | None = None

    def have_left(self) -> bool:
        """Return whether there was one, and there is none now: the graph may lack a name for a moment."""
        if time.monotonic() - self._asked_s >= _GRAPH_POLL_S:
            self._asked_s = time.monotonic()
            if self.running.unannounced_clients(self._topic):
                self._missed = 0
            elif self._missed is not None:
                self._missed += 1
        return (self._missed or 0) >= _MISSED_LOOKS
