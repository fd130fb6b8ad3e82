"""Action clients."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.action.states import ABORTED, CANCELED, SUCCEEDED, UNKNOWN
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.impl.polling import wait_until
from ros_embedded.rclpy.qos import QoSProfile, qos_profile_action_status_default, qos_profile_services_default
from ros_embedded.rclpy.task import Future
from ros_embedded.rclpy.type_support import check_for_type_support

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node


class ClientGoalHandle:
    """A goal that was sent, and the server's answer; `status` is the latest heard of."""

    def __init__(self, action_client: ActionClient, goal_id: Any, goal_response: Any) -> None:
        self._action_client, self.goal_id = action_client, goal_id
        self.stamp, self.accepted, self.status = goal_response.stamp, goal_response.accepted, UNKNOWN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClientGoalHandle) and self.goal_id == other.goal_id

    def __repr__(self) -> str:
        return f"ClientGoalHandle <id={self.goal_id.uuid}, accepted={self.accepted}, status={self.status}>"

    def cancel_goal(self) -> Any:
        """Ask for cancellation and wait for the answer; not from a callback."""
        return _outcome(self.cancel_goal_async())

    def cancel_goal_async(self) -> Future:
        """Ask for cancellation; the future gets action_msgs/srv/CancelGoal_Response."""
        return self._action_client._cancel_goal_async(self)

    def get_result(self) -> Any:
        """Wait for the result; not from a callback."""
        return _outcome(self.get_result_async())

    def get_result_async(self) -> Future:
        """Ask for the result; the future gets a response with `status` and `result`."""
        return self._action_client._get_result_async(self)


class _Answer(Future):
    """A future whose result is what a function makes of a service's response."""

    def __init__(self, made_of: Callable[[Any], Any]) -> None:
        super().__init__()
        self._made_of = made_of

    def set_result(self, result: Any) -> None:
        super().set_result(self._made_of(result))


def _outcome(future: Future) -> Any:
    future._wait()
    return future.result()


class ActionClient:
    """Sends goals to an action server."""

    def __init__(
        self,
        node: Node,
        action_type: Any,
        action_name: str,
        *,
        callback_group: CallbackGroup | None = None,
        goal_service_qos_profile: QoSProfile = qos_profile_services_default,
        result_service_qos_profile: QoSProfile = qos_profile_services_default,
        cancel_service_qos_profile: QoSProfile = qos_profile_services_default,
        feedback_sub_qos_profile: QoSProfile = QoSProfile(depth=10),  # noqa: B008 - as in rclpy
        status_sub_qos_profile: QoSProfile = qos_profile_action_status_default,
    ) -> None:
        check_for_type_support(action_type)
        self._node, self._action_type, self._action_name = node, action_type, action_name
        self._goal_handles: dict[bytes, weakref.ref[ClientGoalHandle]] = {}
        self._feedback_callbacks: dict[bytes, Callable[[Any], Any]] = {}
        self._statuses: dict[bytes, int] = {}  # latest status messages; one may arrive before the response to its goal
        group, impl, base = callback_group or node.default_callback_group, action_type.Impl, f"{action_name}/_action"
        status = get_message("action_msgs/msg/GoalStatusArray")

        logger = node.get_logger().get_child("action_client")

        def client(service: Any, name: str, kind: str, qos: QoSProfile) -> Any:
            made = node.create_client(service, f"{base}/{name}", qos_profile=qos, callback_group=group)
            made._on_unexpected_response = lambda: logger.warning(
                f"Ignoring unexpected {kind} response. There may be more than one action server for the action "
                f"'{action_name}'"
            )
            return made

        def subscription(message: Any, name: str, callback: Any, qos: QoSProfile) -> Any:
            return node.create_subscription(message, f"{base}/{name}", callback, qos, callback_group=group)

        with node.context.participant.graph.announcement():
            self._goal_client = client(impl.SendGoalService, "send_goal", "goal", goal_service_qos_profile)
            self._cancel_client = client(impl.CancelGoalService, "cancel_goal", "cancel", cancel_service_qos_profile)
            self._result_client = client(impl.GetResultService, "get_result", "result", result_service_qos_profile)
            self._subscriptions = (
                subscription(impl.FeedbackMessage, "feedback", self._on_feedback, feedback_sub_qos_profile),
                subscription(status, "status", self._on_status, status_sub_qos_profile),
            )
        self._clients = (self._goal_client, self._cancel_client, self._result_client)

    def _on_feedback(self, message: Any) -> Any:
        callback = self._feedback_callbacks.get(bytes(message.goal_id.uuid))
        return None if callback is None else callback(message)

    def _on_status(self, message: Any) -> None:
        self._statuses = {bytes(entry.goal_info.goal_id.uuid): entry.status for entry in message.status_list}
        for key, status in self._statuses.items():
            reference = self._goal_handles.get(key)
            if reference is None:
                continue
            handle = reference()
            if handle is not None:
                handle.status = status
            if handle is None or status in (SUCCEEDED, CANCELED, ABORTED):
                del self._goal_handles[key]

    def send_goal(self, goal: Any, **kwargs: Any) -> Any:
        """Send a goal and wait for its result, of status UNKNOWN if it is rejected; not from a callback.

        Raises TypeError if it is no goal of this action.
        """
        return _outcome(self.send_goal_async(goal, **kwargs)).get_result()

    def send_goal_async(
        self, goal: Any, feedback_callback: Callable[[Any], Any] | None = None, goal_uuid: Any = None
    ) -> Future:
        """Send a goal; the future gets a ClientGoalHandle. Raises TypeError if it is no goal of this action."""
        if not isinstance(goal, self._action_type.Goal):
            raise TypeError(f"Expected {self._action_type.Goal}, got {type(goal)}")
        if goal_uuid is None:
            goal_uuid = get_message("unique_identifier_msgs/msg/UUID")(uuid=list(uuid.uuid4().bytes))
        request = self._action_type.Impl.SendGoalService.Request(goal_id=goal_uuid, goal=goal)
        if feedback_callback is not None:
            self._feedback_callbacks[bytes(goal_uuid.uuid)] = feedback_callback
        return self._goal_client._ask(request, _Answer(lambda response: self._goal_handle(goal_uuid, response)))

    def _goal_handle(self, goal_uuid: Any, response: Any) -> ClientGoalHandle:
        handle = ClientGoalHandle(self, goal_uuid, response)
        handle.status = self._statuses.get(bytes(goal_uuid.uuid), UNKNOWN)
        if handle.accepted:
            self._goal_handles[bytes(goal_uuid.uuid)] = weakref.ref(handle)
        else:
            self._feedback_callbacks.pop(bytes(goal_uuid.uuid), None)
        return handle

    def _cancel_goal_async(self, goal_handle: ClientGoalHandle) -> Future:
        request = self._action_type.Impl.CancelGoalService.Request()
        request.goal_info.goal_id = goal_handle.goal_id
        return self._cancel_client.call_async(request)

    def _get_result_async(self, goal_handle: ClientGoalHandle) -> Future:
        request = self._action_type.Impl.GetResultService.Request(goal_id=goal_handle.goal_id)
        future = self._result_client.call_async(request)
        future.add_done_callback(lambda _: self._feedback_callbacks.pop(bytes(goal_handle.goal_id.uuid), None))
        return future

    def server_is_ready(self) -> bool:
        """True if a server has been found with all its services and topics."""
        return all(client.service_is_ready() for client in self._clients) and all(
            subscription.get_publisher_count() for subscription in self._subscriptions
        )

    def wait_for_server(self, timeout_sec: float | None = None) -> bool:
        """Wait for a server; False after `timeout_sec` (None: for ever). Raises RCLError when the context ends."""
        return wait_until(self.server_is_ready, timeout_sec, self._node.context)

    def destroy(self) -> None:
        for entity in (*self._clients, *self._subscriptions):
            self._node._rclpy_core.destroy(entity)
