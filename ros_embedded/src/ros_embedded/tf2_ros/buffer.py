"""The Buffer: a BufferCore that waits, serves `tf2_frames`, and forgets its data when time jumps back."""

from __future__ import annotations

import threading
import time as monotonic_time
from collections.abc import Callable
from typing import Any

from ros_embedded.interfaces import get_service
from ros_embedded.rclpy.clock import Clock, JumpThreshold
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.logging import get_logger
from ros_embedded.tf2_ros.buffer_core import BufferCore, nanoseconds

_BACKWARD_JUMP = Duration(seconds=-1)
_NO_WAIT = Duration()


class Buffer(BufferCore):
    """Keeps transforms for cache_time (10 s by default); with a node it also serves `tf2_frames`."""

    def __init__(self, cache_time: Duration | None = None, node: Any = None) -> None:
        super().__init__(cache_time)
        self._new_data = threading.Condition()
        if node is not None:
            self.srv = node.create_service(get_service("tf2_msgs/srv/FrameGraph"), "tf2_frames", self._answer_frames)
        self.clock = Clock() if node is None else node.get_clock()
        threshold = JumpThreshold(min_forward=None, min_backward=_BACKWARD_JUMP, on_clock_change=True)
        self.jump_handle = self.clock.create_jump_callback(threshold, post_callback=self.time_jump_callback)

    def time_jump_callback(self, time_jump: Any) -> None:
        get_logger("tf2_buffer").warning("Detected jump back in time. Clearing tf buffer.")
        self.clear()

    def _insert(self, message: Any, authority: str, is_static: bool) -> None:
        super()._insert(message, authority, is_static)
        with self._new_data:
            self._new_data.notify_all()

    def lookup_transform(self, target_frame: str, source_frame: str, time: Any, timeout: Duration = _NO_WAIT) -> Any:
        """The TransformStamped that takes coordinates from the source frame to the target frame.

        A zero time means the newest time at which both frames are known. Unknown transforms are waited for, up to the
        timeout. Raises LookupException, ConnectivityException, ExtrapolationException or InvalidArgumentException.
        """
        self.can_transform(target_frame, source_frame, time, timeout)
        return self.lookup_transform_core(target_frame, source_frame, time)

    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Any,
        timeout: Duration = _NO_WAIT,
        return_debug_tuple: bool = False,
    ) -> Any:
        """True if lookup_transform would answer within the timeout; with return_debug_tuple also the reason if not."""
        answer = self._wait(lambda: self.can_transform_core(target_frame, source_frame, time), timeout)
        return answer if return_debug_tuple else answer[0]

    def _answer_frames(self, request: Any, response: Any) -> Any:
        response.frame_yaml = self.all_frames_as_yaml()
        return response

    def _wait(self, ask: Callable[[], tuple[bool, str]], timeout: Duration) -> tuple[bool, str]:
        """Ask repeatedly until the answer is yes, at most for the timeout in wall time."""
        deadline = monotonic_time.monotonic() + nanoseconds(timeout) / 1e9
        with self._new_data:
            while not (answer := ask())[0]:
                left_s = deadline - monotonic_time.monotonic()
                if left_s <= 0:
                    break
                self._new_data.wait(left_s)
        return answer
