"""Lookups answered by a buffer in another process, over the action of a tf2 BufferServer."""

from __future__ import annotations

import threading
from typing import Any

from ros_embedded.interfaces import get_action
from ros_embedded.rclpy.action import ActionClient
from ros_embedded.rclpy.duration import Duration
from ros_embedded.tf2_ros import exceptions
from ros_embedded.tf2_ros.buffer_interface import NO_WAIT, BufferInterface

LookupTransform = get_action("tf2_msgs/action/LookupTransform")
_TF2Error = type(LookupTransform.Result().error)
_EXCEPTIONS = {
    _TF2Error.LOOKUP_ERROR: exceptions.LookupException,
    _TF2Error.CONNECTIVITY_ERROR: exceptions.ConnectivityException,
    _TF2Error.EXTRAPOLATION_ERROR: exceptions.ExtrapolationException,
    _TF2Error.INVALID_ARGUMENT_ERROR: exceptions.InvalidArgumentException,
    _TF2Error.TIMEOUT_ERROR: exceptions.TimeoutException,
}
_PADDING = Duration(seconds=2.0)


class BufferClient(BufferInterface):
    """A buffer that asks the BufferServer at the action name ns; another thread has to spin the node."""

    def __init__(self, node: Any, ns: str, check_frequency: float = 10.0, timeout_padding: Duration = _PADDING) -> None:
        super().__init__()
        self.node, self.check_frequency, self.timeout_padding = node, check_frequency, timeout_padding
        self.action_client = ActionClient(node, LookupTransform, action_name=ns)

    def lookup_transform(self, target_frame: str, source_frame: str, time: Any, timeout: Duration = NO_WAIT) -> Any:
        """The TransformStamped between two frames at a time. Raises TransformException."""
        return self._ask(target_frame, source_frame, time, timeout, advanced=False)

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
        timeout: Duration = NO_WAIT,
    ) -> Any:
        """The TransformStamped between two frames at two times. Raises TransformException."""
        more = {"target_time": target_time.to_msg(), "fixed_frame": fixed_frame, "advanced": True}
        return self._ask(target_frame, source_frame, source_time, timeout, **more)

    def can_transform(self, target_frame: str, source_frame: str, time: Any, timeout: Duration = NO_WAIT) -> bool:
        try:
            self.lookup_transform(target_frame, source_frame, time, timeout)
        except exceptions.TransformException:
            return False
        return True

    def can_transform_full(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
        timeout: Duration = NO_WAIT,
    ) -> bool:
        try:
            self.lookup_transform_full(target_frame, target_time, source_frame, source_time, fixed_frame, timeout)
        except exceptions.TransformException:
            return False
        return True

    def destroy(self) -> None:
        self.action_client.destroy()

    def _ask(self, target_frame: str, source_frame: str, time: Any, timeout: Duration, **more: Any) -> Any:
        stamp = time.to_msg() if hasattr(time, "to_msg") else time
        goal = LookupTransform.Goal(target_frame=target_frame, source_frame=source_frame, source_time=stamp, **more)
        goal.timeout = timeout.to_msg()
        if not self.action_client.server_is_ready():
            raise exceptions.TimeoutException("The BufferServer is not ready.")
        wait_s = (timeout.nanoseconds + self.timeout_padding.nanoseconds) / 1e9
        handle = _result_of(self.action_client.send_goal_async(goal), wait_s)
        if not handle.accepted:
            raise exceptions.TimeoutException("The BufferServer did not accept the goal.")
        result = _result_of(handle.get_result_async(), wait_s).result
        if result.error.error != _TF2Error.NO_ERROR:
            kind = _EXCEPTIONS.get(result.error.error, exceptions.TransformException)
            raise kind(result.error.error_string)
        return result.transform


def _result_of(future: Any, timeout_s: float) -> Any:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not done.wait(timeout_s):
        raise exceptions.TimeoutException("The BufferServer did not answer in time.")
    return future.result()
