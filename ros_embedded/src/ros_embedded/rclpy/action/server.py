"""Action servers."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.action.states import (
    ACTIVE,
    EXECUTING,
    UNKNOWN,
    GoalEvent,
    goals_to_cancel,
    next_status,
)
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.qos import QoSProfile, qos_profile_action_status_default, qos_profile_services_default
from ros_embedded.rclpy.service import DeferringService
from ros_embedded.rclpy.task import Future, await_or_execute
from ros_embedded.rclpy.type_support import check_for_type_support

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node


class GoalResponse(Enum):
    """Whether a goal is accepted."""

    REJECT = 1
    ACCEPT = 2


class CancelResponse(Enum):
    """Whether a goal will be cancelled."""

    REJECT = 1
    ACCEPT = 2


class ServerGoalHandle:
    """A goal that the server has accepted; `status` is one of action_msgs/msg/GoalStatus."""

    def __init__(self, action_server: ActionServer, goal_info: Any, goal_request: Any) -> None:
        self._action_server, self._goal_info = action_server, goal_info
        self.request, self.goal_id = goal_request, goal_info.goal_id
        self.status = next_status(UNKNOWN, GoalEvent.ACCEPT)
        self._lock = threading.RLock()
        self._done_ns: int | None = None
        self._is_destroyed = False
        self.result = Future()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServerGoalHandle) and self.goal_id == other.goal_id

    @property
    def is_active(self) -> bool:
        """False once it has succeeded, been aborted or cancelled."""
        return self.status in ACTIVE

    @property
    def is_cancel_requested(self) -> bool:
        """True if the callback should stop and call canceled()."""
        return self.status == next_status(EXECUTING, GoalEvent.CANCEL_GOAL)

    def _update_state(self, event: GoalEvent) -> None:
        with self._lock:
            if self._is_destroyed:
                return
            self.status = next_status(self.status, event)
            if not self.is_active:
                self._done_ns = self._action_server._node.get_clock().now().nanoseconds
            self._action_server._publish_status()
            if not self.is_active:
                self._action_server.notify_goal_done()

    def execute(self, execute_callback: Callable[[ServerGoalHandle], Any] | None = None) -> None:
        if not self.is_cancel_requested:
            self._update_state(GoalEvent.EXECUTE)
        self._action_server.notify_execute(self, execute_callback)

    def publish_feedback(self, feedback: Any) -> None:
        """Send feedback to the client. Raises TypeError if it is no feedback of this action."""
        if not isinstance(feedback, self._action_server.action_type.Feedback):
            raise TypeError
        message = self._action_server.action_type.Impl.FeedbackMessage(goal_id=self.goal_id, feedback=feedback)
        with self._lock:
            if not self._is_destroyed:
                self._action_server._feedback_publisher.publish(message)

    def succeed(self) -> None:
        """End the goal as succeeded. Raises RCLError if it has ended already."""
        self._update_state(GoalEvent.SUCCEED)

    def abort(self) -> None:
        """End the goal as aborted. Raises RCLError if it has ended already."""
        self._update_state(GoalEvent.ABORT)

    def canceled(self) -> None:
        """End the goal as canceled. Raises RCLError unless cancellation was requested."""
        self._update_state(GoalEvent.CANCELED)

    def destroy(self) -> None:
        """Detach the goal from its server; later calls have no effect."""
        with self._lock:
            self._is_destroyed, self.status = True, UNKNOWN


def default_handle_accepted_callback(goal_handle: ServerGoalHandle) -> None:
    """Execute at once."""
    goal_handle.execute()


def default_goal_callback(goal_request: Any) -> GoalResponse:
    """Accept every goal."""
    return GoalResponse.ACCEPT


def default_cancel_callback(cancel_request: Any) -> CancelResponse:
    """Refuse to cancel."""
    return CancelResponse.REJECT


class ActionServer:
    """Serves an action: three services and two topics below `<name>/_action/`."""

    def __init__(
        self,
        node: Node,
        action_type: Any,
        action_name: str,
        execute_callback: Callable[[ServerGoalHandle], Any],
        *,
        callback_group: CallbackGroup | None = None,
        goal_callback: Callable[[Any], Any] | None = default_goal_callback,
        handle_accepted_callback: Callable[[ServerGoalHandle], Any] | None = default_handle_accepted_callback,
        cancel_callback: Callable[[Any], Any] | None = default_cancel_callback,
        goal_service_qos_profile: QoSProfile = qos_profile_services_default,
        result_service_qos_profile: QoSProfile = qos_profile_services_default,
        cancel_service_qos_profile: QoSProfile = qos_profile_services_default,
        feedback_pub_qos_profile: QoSProfile = QoSProfile(depth=10),  # noqa: B008 - as in rclpy
        status_pub_qos_profile: QoSProfile = qos_profile_action_status_default,
        result_timeout: int = 900,
    ) -> None:
        check_for_type_support(action_type)
        if result_timeout < 0:
            raise ValueError("Failed to create action server: timer period must be non-negative")
        self._node, self.action_type = node, action_type
        self._lock = threading.RLock()
        self._goal_handles: dict[bytes, ServerGoalHandle] = {}
        self._result_timeout = Duration(seconds=result_timeout)
        self.register_handle_accepted_callback(handle_accepted_callback)
        self.register_goal_callback(goal_callback)
        self.register_cancel_callback(cancel_callback)
        self.register_execute_callback(execute_callback)
        group, impl, base = callback_group or node.default_callback_group, action_type.Impl, f"{action_name}/_action"
        with node.context.participant.graph.announcement():
            self._services = [
                DeferringService(callback, node, service, f"{base}/{name}", qos, group)
                for service, name, callback, qos in (
                    (impl.SendGoalService, "send_goal", self._on_goal, goal_service_qos_profile),
                    (impl.GetResultService, "get_result", self._on_result, result_service_qos_profile),
                    (impl.CancelGoalService, "cancel_goal", self._on_cancel, cancel_service_qos_profile),
                )
            ]
            self._feedback_publisher, self._status_publisher = (
                node.create_publisher(message, f"{base}/{name}", qos, callback_group=group)
                for message, name, qos in (
                    (impl.FeedbackMessage, "feedback", feedback_pub_qos_profile),
                    (get_message("action_msgs/msg/GoalStatusArray"), "status", status_pub_qos_profile),
                )
            )
        self._expiry_timer = node.create_timer(max(0.001, result_timeout), self._expire_goals, group, autostart=False)
        self._logger = node.get_logger().get_child("action_server")

    async def _on_goal(self, request: Any, respond: Callable[[Any], None]) -> None:
        info = get_message("action_msgs/msg/GoalInfo")(goal_id=request.goal_id)
        key = bytes(request.goal_id.uuid)
        accepted = False
        if key not in self._goal_handles:
            response = await await_or_execute(self._goal_callback, request.goal)
            if not isinstance(response, GoalResponse):
                self._logger.warning("Goal request callback did not return a GoalResponse type. Rejecting goal.")
            accepted = response is GoalResponse.ACCEPT
        if accepted:
            info.stamp = self._node.get_clock().now().to_msg()
            handle = self._goal_handles[key] = ServerGoalHandle(self, info, request.goal)
            executor = self._node.executor
            if executor is not None:
                handle.result._set_executor(executor)
        respond(self.action_type.Impl.SendGoalService.Response(accepted=accepted, stamp=info.stamp))
        if accepted:
            await await_or_execute(self._handle_accepted_callback, handle)

    async def _execute_goal(
        self, execute_callback: Callable[[ServerGoalHandle], Any], handle: ServerGoalHandle
    ) -> None:
        try:
            result = await await_or_execute(execute_callback, handle)
        except Exception as error:
            result = self.action_type.Result()
            self._logger.error(f"Error raised in execute callback: {error}")
            traceback.print_exc()
        if handle.is_active:
            self._logger.warning(f"Goal state not set, assuming aborted. Goal ID: {handle.goal_id.uuid}")
            handle.abort()
        if result is None:
            result = self.action_type.Result()
        response = self.action_type.Impl.GetResultService.Response(status=handle.status, result=result)
        handle.result.set_result(response)

    async def _on_cancel(self, request: Any, respond: Callable[[Any], None]) -> None:
        with self._lock:
            infos = {key: (handle._goal_info, handle.status) for key, handle in self._goal_handles.items()}
        code, keys = goals_to_cancel(request.goal_info, infos)
        response = self.action_type.Impl.CancelGoalService.Response(return_code=code)
        for key in keys:
            handle = self._goal_handles[key]
            if await await_or_execute(self._cancel_callback, handle) is CancelResponse.ACCEPT:
                try:
                    handle._update_state(GoalEvent.CANCEL_GOAL)
                except RCLError:  # the goal has ended in the meantime
                    continue
                response.goals_canceling.append(handle._goal_info)
        respond(response)

    async def _on_result(self, request: Any, respond: Callable[[Any], None]) -> None:
        handle = self._goal_handles.get(bytes(request.goal_id.uuid))
        if handle is None:
            respond(self.action_type.Impl.GetResultService.Response(status=UNKNOWN))
        else:
            handle.result.add_done_callback(lambda future: respond(future.result()))

    def _publish_status(self) -> None:
        if not self._node.context.ok():
            return
        with self._lock:
            status = get_message("action_msgs/msg/GoalStatus")
            message = get_message("action_msgs/msg/GoalStatusArray")(
                status_list=[status(goal_info=h._goal_info, status=h.status) for h in self._goal_handles.values()]
            )
            self._status_publisher.publish(message)

    def _expire_goals(self) -> None:
        now_ns = self._node.get_clock().now().nanoseconds
        with self._lock:
            for key, handle in list(self._goal_handles.items()):
                if handle._done_ns is not None and now_ns - handle._done_ns >= self._result_timeout.nanoseconds:
                    self._goal_handles.pop(key).destroy()
            ends = [handle._done_ns for handle in self._goal_handles.values() if handle._done_ns is not None]
        self._expiry_timer.cancel()
        if ends:
            self._expiry_timer.timer_period_ns = max(0, min(ends) + self._result_timeout.nanoseconds - now_ns)
            self._expiry_timer.reset()

    def notify_execute(
        self, goal_handle: ServerGoalHandle, execute_callback: Callable[[ServerGoalHandle], Any] | None
    ) -> None:
        callback = execute_callback or self._execute_callback
        executor = self._node.executor
        if executor is None:
            raise RuntimeError("cannot execute a goal: the action server's node has no executor")
        executor.create_task(self._execute_goal, callback, goal_handle)

    def notify_goal_done(self) -> None:
        if self._expiry_timer.is_canceled():
            self._expire_goals()

    def register_handle_accepted_callback(self, handle_accepted_callback: Callable[[Any], Any] | None) -> None:
        """Called with each accepted goal; None executes it at once."""
        self._handle_accepted_callback = handle_accepted_callback or default_handle_accepted_callback

    def register_goal_callback(self, goal_callback: Callable[[Any], Any] | None) -> None:
        """Accepts or rejects goals; None accepts all."""
        self._goal_callback = goal_callback or default_goal_callback

    def register_cancel_callback(self, cancel_callback: Callable[[Any], Any] | None) -> None:
        """Accepts or rejects cancellations; None rejects all."""
        self._cancel_callback = cancel_callback or default_cancel_callback

    def register_execute_callback(self, execute_callback: Callable[[ServerGoalHandle], Any]) -> None:
        """Does the work and returns the result. Raises TypeError if it is not callable."""
        if not callable(execute_callback):
            raise TypeError("Failed to register goal execution callback: not callable")
        self._execute_callback = execute_callback

    def destroy(self) -> None:
        for service in self._services:  # no further goals
            self._node._rclpy_core.destroy(service)
        for handle in list(self._goal_handles.values()):  # waits for what each is publishing
            handle.destroy()
        self._goal_handles.clear()
        for entity in (self._feedback_publisher, self._status_publisher, self._expiry_timer):
            self._node._rclpy_core.destroy(entity)
