"""Runs goals on an action server to their ends; a goal that is not waited for any more is cancelled."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.service_clients import done_event


class PatientActionClient(ActionClient):
    """An action client that takes an answer only when it has noted what it asked.

    rclpy's own (in Jazzy and Humble) sends a request first and notes its number afterwards. When another thread takes
    the answer in between, it is thrown away ("Ignoring unexpected goal response"): the server works on a goal that its
    client takes for unanswered, or a result is waited for in vain. rclpy's clients of services are locked like this.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._sending = threading.Lock()  # first: once it is made, others may spin it
        super().__init__(*args, **kwargs)

    def send_goal_async(self, *args: Any, **kwargs: Any) -> Future:
        """Send a goal; the future gets a ClientGoalHandle."""
        with self._sending:
            return super().send_goal_async(*args, **kwargs)

    def _cancel_goal_async(self, goal_handle: Any) -> Future:
        with self._sending:
            return super()._cancel_goal_async(goal_handle)

    def _get_result_async(self, goal_handle: Any) -> Future:
        with self._sending:
            return super()._get_result_async(goal_handle)

    async def execute(self, taken_data: Any) -> None:
        """Work on what a spinning thread has taken; ros_embedded, which notes first, does not call this."""
        with self._sending:
            pass
        await super().execute(taken_data)


_POLL_S = 0.02
# A server that has fallen silent may have been killed: who waits is told soon, confirmed or not (s).
_SILENT_STOP_S = 0.4
# So much longer than usual a server may be silent: Nav2 reads its behavior tree first, and a machine may be busy (s).
_GRACE_S = 3.0
# A result that was sent before its server went is there after this time; later none can come.
_LAST_WORD_S = 1.0


class Cause(Enum):
    """Why a goal did not end by itself."""

    NO_SERVER = "no server offers it"
    REFUSED = "the server refused it"
    CANCELED = "the caller wanted it to stop"
    LATE = "it took too long"
    SILENT = "it gave no feedback for too long"
    SERVER_GONE = "the server is gone"


class GoalStoppedError(RobotMemoryError):
    """A goal did not end by itself.

    response: what the server answered once it was told to stop; None where it did not, or had nothing to stop.
    """

    def __init__(self, cause: Cause, message: str, response: Any = None) -> None:
        super().__init__(message)
        self.cause = cause
        self.response = response


@dataclass(eq=False)
class GoalClient:
    """A client of one action server.

    Args:
        node: the node that talks; other threads spin it.
        action_type: the action's class.
        name: the action's name.
        running: what is running, here and elsewhere.
        connect_s: how long the server may take to appear, and to accept a goal.
        stop_s: how long it may take to confirm that it stopped.
        label: what messages call it.
    """

    node: Node
    action_type: Any
    name: str
    running: RunningGoals
    connect_s: float = 10.0
    stop_s: float = 5.0
    label: str = ""

    def __post_init__(self) -> None:
        self.label = self.label or self.name
        group = ReentrantCallbackGroup()
        self._client = PatientActionClient(self.node, self.action_type, self.name, callback_group=group)

    @property
    def is_served(self) -> bool:
        """Whether a server offers the action now."""
        return bool(self._client.server_is_ready())

    def wait_for_server(self, timeout_s: float, is_canceled: Callable[[], bool] = lambda: False) -> None:
        """Wait until a server offers the action.

        Raises:
            GoalStoppedError: NO_SERVER or CANCELED.
        """
        deadline_s = time.monotonic() + timeout_s
        while not self._client.wait_for_server(timeout_sec=_POLL_S):
            if is_canceled():
                raise GoalStoppedError(Cause.CANCELED, "canceled")
            if time.monotonic() > deadline_s:
                raise GoalStoppedError(Cause.NO_SERVER, f"no node offers {self.label}")

    def run(
        self,
        goal: Any,
        timeout_s: float,
        is_canceled: Callable[[], bool] = lambda: False,
        on_feedback: Callable[[Any], None] = lambda feedback: None,
        silence_s: float | None = None,
    ) -> Any:
        """Return the response (`status`, `result`) of a goal that has ended by itself.

        silence_s: once it has given feedback, it is stopped without any for so long; None: it need not give any.

        Raises:
            GoalStoppedError: it has not, and the server has been told to stop.
        """
        if is_canceled():
            raise GoalStoppedError(Cause.CANCELED, "canceled")
        self.wait_for_server(self.connect_s, is_canceled)
        goal_id = uuid.uuid4().bytes
        watch = _Watch(timeout_s, silence_s)

        def hear(message: Any) -> None:
            watch.hear()
            on_feedback(message.feedback)

        with self.running.asking(self.name, goal_id):
            sent = self._client.send_goal_async(goal, feedback_callback=hear, goal_uuid=UUID(uuid=list(goal_id)))
            try:
                return self._ended(self._accepted(sent, is_canceled), goal_id, watch, is_canceled)
            except GoalStoppedError:
                raise
            except BaseException:  # an interrupt, for example
                sent.add_done_callback(_cancel_accepted)
                raise

    def _ended(self, handle: Any, goal_id: bytes, watch: _Watch, is_canceled: Callable[[], bool]) -> Any:
        """Return the response of an accepted goal."""
        ended = handle.get_result_async()
        has_ended = done_event(ended)
        watch.start()
        offered_s = time.monotonic()
        while not watch.wait(has_ended):
            if self._client.server_is_ready():
                offered_s = time.monotonic()
            if is_canceled():
                raise self._stopped(Cause.CANCELED, "canceled", handle, ended)
            server = self.running.other_side(goal_id)
            is_lost = server is not None and server.is_gone
            if is_lost or time.monotonic() - offered_s > _LAST_WORD_S:
                handle.cancel_goal_async()  # were it there after all, nothing may move while the goal counts as ended
                if server is not None:
                    self.running.cancel_for(server)
                name = server.node if server is not None else f"the server of {self.label}"
                raise GoalStoppedError(Cause.SERVER_GONE, f"{name} is gone; what it had running was told to stop")
            late = watch.late()
            if late is not None:
                cause, why = late
                raise self._stopped(cause, f"{self.label} {why}", handle, ended)
        return ended.result()

    def _accepted(self, sent: Future, is_canceled: Callable[[], bool]) -> Any:
        """Return the handle of an accepted goal."""
        is_answered = done_event(sent)
        deadline_s = time.monotonic() + self.connect_s
        canceled_s = 0.0
        while not is_answered.wait(_POLL_S):
            now_s = time.monotonic()
            if is_canceled() and not canceled_s:
                # What may be accepted yet must be stopped then: wait for it.
                canceled_s, deadline_s = now_s, min(deadline_s, now_s + self.stop_s)
            if now_s > deadline_s:
                sent.add_done_callback(_cancel_accepted)
                cause = Cause.CANCELED if canceled_s else Cause.LATE
                raise GoalStoppedError(cause, f"{self.label} did not answer the goal")
        handle = sent.result()
        if not handle.accepted:
            raise GoalStoppedError(Cause.REFUSED, f"{self.label} refused the goal")
        return handle

    def _stopped(self, cause: Cause, why: str, handle: Any, ended: Future) -> GoalStoppedError:
        """Stop a goal; return the error that says whether it did."""
        handle.cancel_goal_async()
        stop_s = min(self.stop_s, _SILENT_STOP_S) if cause is Cause.SILENT else self.stop_s
        if done_event(ended).wait(stop_s):
            return GoalStoppedError(cause, f"{why}; it has stopped", ended.result())
        self.node.get_logger().error(f"{self.label} did not confirm within {stop_s:g} s that it stopped")
        return GoalStoppedError(cause, f"{why}; IT DID NOT CONFIRM that it stopped within {stop_s:g} s")


class _Watch:
    """The deadlines of a running goal."""

    def __init__(self, timeout_s: float, silence_s: float | None) -> None:
        self._timeout_s, self._silence_s = timeout_s, silence_s
        self.start()

    def start(self) -> None:
        """Begin to count; the first feedback may take its time."""
        self._started_s = self._heard_s = time.monotonic()
        self._grace_s = _GRACE_S

    def wait(self, event: threading.Event) -> bool:
        """Wait a moment for an event; return whether it is set. A machine that is late is so with the server, too."""
        begun_s = time.monotonic()
        is_set = event.wait(_POLL_S)
        self._grace_s = min(self._grace_s + max(0.0, time.monotonic() - begun_s - _POLL_S), _GRACE_S)
        return is_set

    def hear(self) -> None:
        """Take note of feedback."""
        self._heard_s, self._grace_s = time.monotonic(), 0.0

    def late(self) -> tuple[Cause, str] | None:
        """Return which deadline has passed, and that in words; None while none has."""
        now_s = time.monotonic()
        if now_s - self._started_s > self._timeout_s:
            return Cause.LATE, f"took more than {self._timeout_s:g} s"
        silent_s = now_s - self._heard_s
        if self._silence_s is not None and silent_s > self._silence_s + self._grace_s:
            return Cause.SILENT, f"gave no feedback for {silent_s:.1f} s: is its server still running?"
        return None


def _cancel_accepted(sent: Future) -> None:
    handle = sent.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()
