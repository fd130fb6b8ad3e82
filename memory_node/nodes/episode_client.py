"""Tells the memory node what happens: an episode begins, its steps, its end."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory import srv

from memory_node.nodes import conversions
from memory_node.nodes.waiting import PeerTimeoutError, result_of
from memory_node.planner.executor import ExecutedStep
from memory_node.planner.step_recorder import StepRecorder


class EpisodeClient:
    """Records one episode at a time. What memory does not take is logged: an instruction never fails for its record."""

    def __init__(self, node: Node, memory_name: str, timeout_s: float = 5.0) -> None:
        self._node = node
        self._timeout_s = timeout_s
        group = ReentrantCallbackGroup()
        self._start = node.create_client(srv.StartEpisode, f"{memory_name}/start_episode", callback_group=group)
        self._record = node.create_client(srv.RecordStep, f"{memory_name}/record_step", callback_group=group)
        self._end = node.create_client(srv.EndEpisode, f"{memory_name}/end_episode", callback_group=group)
        self.episode_id = ""
        self._recorder = StepRecorder(lambda: int(node.get_clock().now().nanoseconds))

    def start(self, instruction: str, task_type: str = "") -> None:
        """Begin an episode."""
        response = self._call(self._start, srv.StartEpisode.Request(instruction=instruction, task_type=task_type))
        self.episode_id = response.episode_id if response is not None else ""
        self._recorder.begin(self.episode_id)

    def record_step(self, executed: ExecutedStep) -> None:
        """Record one executed skill."""
        step = self._recorder.step(executed)
        if not self.episode_id:
            return
        self._call(self._record, srv.RecordStep.Request(step=conversions.step_to_msg(step)))

    def end(self, succeeded: bool) -> None:
        """End the episode."""
        if self.episode_id:
            self._call(self._end, srv.EndEpisode.Request(episode_id=self.episode_id, succeeded=succeeded))

    def _call(self, client: Any, request: Any) -> Any:
        try:
            if not client.wait_for_service(timeout_sec=self._timeout_s):
                raise PeerTimeoutError(f"no node offers {client.srv_name}")
            response = result_of(client.call_async(request), self._timeout_s, client.srv_name)
        except PeerTimeoutError as error:
            self._node.get_logger().warning(f"the episode is not recorded: {error}")
            return None
        if not response.success:
            self._node.get_logger().warning(f"the episode is not recorded: {response.message}")
        return response
