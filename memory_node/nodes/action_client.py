"""rclpy's action client, for goals that are sent from one thread while others spin."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.action import ActionClient
from rclpy.task import Future


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
