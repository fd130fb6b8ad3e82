"""The Buffer: a BufferCore that can wait, announces itself to tf2_tools and starts afresh when time jumps back."""

from __future__ import annotations

import threading
import time as monotonic_time
from collections.abc import Callable
from typing import Any

from ros_embedded.interfaces import get_service
from ros_embedded.rclpy.clock import Clock, JumpThreshold
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.logging import get_logger
from ros_embedded.rclpy.task import Future
from ros_embedded.tf2_ros.buffer_core import BufferCore, nanoseconds
from ros_embedded.tf2_ros.buffer_interface import NO_WAIT, BufferInterface

FrameGraph = get_service("tf2_msgs/srv/FrameGraph")
_BACKWARD_JUMP = Duration(seconds=-1)


class Buffer(BufferCore, BufferInterface):
    """Keeps transforms for cache_time (10 s by default); with a node it also serves `tf2_frames`."""

    def __init__(self, cache_time: Duration | None = None, node: Any = None) -> None:
        BufferCore.__init__(self, cache_time)
        BufferInterface.__init__(self)
        self._new_data = threading.Condition()
        self._new_data_callbacks: list[Callable[[], None]] = []
        if node is not None:
            self.srv = node.create_service(FrameGraph, "tf2_frames", self._answer_frames)
        self.clock = Clock() if node is None else node.get_clock()
        threshold = JumpThreshold(min_forward=None, min_backward=_BACKWARD_JUMP, on_clock_change=True)
        self.jump_handle = self.clock.create_jump_callback(threshold, post_callback=self.time_jump_callback)

    def time_jump_callback(self, time_jump: Any) -> None:
        get_logger("tf2_buffer").warning("Detected jump back in time. Clearing tf buffer.")
        self.clear()

    def set_transform(self, transform: Any, authority: str) -> None:
        """Take in a TransformStamped and wake those who wait for it."""
        super().set_transform(transform, authority)
        self._announce()

    def set_transform_static(self, transform: Any, authority: str) -> None:
        """Take in a TransformStamped that holds at all times and wake those who wait for it."""
        super().set_transform_static(transform, authority)
        self._announce()

    def lookup_transform(self, target_frame: str, source_frame: str, time: Any, timeout: Duration = NO_WAIT) -> Any:
        """The TransformStamped that takes coordinates from the source frame to the target frame.

        Args:
            target_frame: the frame to transform to.
            source_frame: the frame to transform from.
            time: when; a zero time means the newest at which both frames are known.
            timeout: how long to wait for it to become known.

        Raises:
            LookupException, ConnectivityException, ExtrapolationException, InvalidArgumentException

        """
        self.can_transform(target_frame, source_frame, time, timeout)
        return self.lookup_transform_core(target_frame, source_frame, time)

    async def lookup_transform_async(self, target_frame: str, source_frame: str, time: Any) -> Any:
        """As lookup_transform, awaiting it for as long as it takes."""
        return await self.wait_for_transform_async(target_frame, source_frame, time)

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
        timeout: Duration = NO_WAIT,
    ) -> Any:
        """As lookup_transform, from the source at one time to the target at another, by a frame that stays fixed."""
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame)
        self.can_transform_full(*arguments, timeout)
        return self.lookup_transform_full_core(*arguments)

    async def lookup_transform_full_async(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any, fixed_frame: str
    ) -> Any:
        """As lookup_transform_full, awaiting it for as long as it takes."""
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame)
        return await self.wait_for_transform_full_async(*arguments)

    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Any,
        timeout: Duration = NO_WAIT,
        return_debug_tuple: bool = False,
    ) -> Any:
        """Whether lookup_transform would answer within the timeout; with return_debug_tuple also why not."""
        answer = self._wait(lambda: self.can_transform_core(target_frame, source_frame, time), timeout)
        return answer if return_debug_tuple else answer[0]

    def can_transform_full(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
        timeout: Duration = NO_WAIT,
        return_debug_tuple: bool = False,
    ) -> Any:
        """Whether lookup_transform_full would answer within the timeout; with return_debug_tuple also why not."""
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame)
        answer = self._wait(lambda: self.can_transform_full_core(*arguments), timeout)
        return answer if return_debug_tuple else answer[0]

    def wait_for_transform_async(self, target_frame: str, source_frame: str, time: Any) -> Future:
        return self._when_possible(
            lambda: self.can_transform_core(target_frame, source_frame, time)[0],
            lambda: self.lookup_transform_core(target_frame, source_frame, time),
        )

    def wait_for_transform_full_async(
        self, target_frame: str, target_time: Any, source_frame: str, source_time: Any, fixed_frame: str
    ) -> Future:
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame)
        return self._when_possible(
            lambda: self.can_transform_full_core(*arguments)[0], lambda: self.lookup_transform_full_core(*arguments)
        )

    def _answer_frames(self, request: Any, response: Any) -> Any:
        response.frame_yaml = self.all_frames_as_yaml()
        return response

    def _wait(self, ask: Callable[[], tuple[bool, str]], timeout: Duration) -> tuple[bool, str]:
        """Ask until the answer is yes or the timeout, in wall time, has passed."""
        deadline = monotonic_time.monotonic() + nanoseconds(timeout) / 1e9
        with self._new_data:
            while not (answer := ask())[0]:
                left_s = deadline - monotonic_time.monotonic()
                if left_s <= 0:
                    break
                self._new_data.wait(left_s)
        return answer

    def _when_possible(self, is_possible: Callable[[], bool], look_up: Callable[[], Any]) -> Future:
        future = Future()

        def settle() -> None:
            if future.done() or not is_possible():
                return
            try:
                future.set_result(look_up())
            except BaseException as error:
                future.set_exception(error)

        with self._new_data:
            settle()
            if not future.done():
                self._new_data_callbacks.append(settle)
        future.add_done_callback(lambda _: self._remove_callback(settle))
        return future

    def _announce(self) -> None:
        with self._new_data:
            callbacks = list(self._new_data_callbacks)
            self._new_data.notify_all()
        for callback in callbacks:
            callback()

    def _remove_callback(self, callback: Callable[[], None]) -> None:
        with self._new_data:
            if callback in self._new_data_callbacks:
                self._new_data_callbacks.remove(callback)
