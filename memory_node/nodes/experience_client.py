"""Experience as a planner node has it: `ExperiencePort` over the memory node's services."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from robot_memory import srv

from memory_node.context.guidance import CompiledStep, StepObservation
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, StepRecord
from memory_node.nodes import conversions
from memory_node.nodes.service_clients import PeerTimeoutError, ServiceClients

_SERVICES = (srv.StartEpisode, srv.RecordStep, srv.EndEpisode, srv.CompileContext)


@dataclass(eq=False)
class ExperienceClient:
    """`ExperiencePort` and `GuidancePort` over ROS services; every call has a deadline.

    compiler: which one compiles. compile_timeout_s: for one step; a language model may take its time. is_ending:
    whether the node that asks is to end; from then on only a memory node that is there is waited for.

    What memory does not take or answer is logged: an instruction never fails for its record or for want of guidance.
    """

    node: Node
    memory_name: str
    timeout_s: float = 5.0
    compiler: str = "rules"
    compile_timeout_s: float = 15.0
    is_ending: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        self._clients = ServiceClients(self.node, self.memory_name, _SERVICES, self.is_ending)
        self._max_attempts = 1
        self.episode_id = ""

    def start(self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1) -> str:
        """Begin an episode and return its id; "" when memory does not answer: nothing is recorded then."""
        request = srv.StartEpisode.Request(
            instruction=instruction, task_type=task_type, episode_id=episode_id, attempt=attempt
        )
        response = self._call(request)
        self.episode_id = response.episode_id if response is not None else ""
        self._max_attempts = response.max_attempts if response is not None else 1
        return self.episode_id

    def record(self, step: StepRecord, context_id: str = "") -> tuple[str, ...]:
        """Record a step, chosen by a context; return memory's warnings about it."""
        if not step.episode_id:
            return ()
        response = self._call(srv.RecordStep.Request(step=conversions.step_to_msg(step), context_id=context_id))
        return tuple(response.warnings) if response is not None else ()

    def end(
        self, episode_id: str, success: bool | None, message: str = "", account: EpisodeAccount = NO_ACCOUNT
    ) -> None:
        """End an episode; None: nobody can say how it went. message: why it failed, in the planner's words."""
        if episode_id:
            metrics = conversions.model_cost_to_msg(account.cost)
            request = srv.EndEpisode.Request(
                episode_id=episode_id,
                succeeded=bool(success),
                abandoned=success is None,
                message=message,
                metrics=metrics,
                notes=account.notes,
            )
            self._call(request)

    def compile(self, episode_id: str, observation: StepObservation) -> CompiledStep | None:
        """Return what memory compiles for the next step; None where it does not, and a line in the log says why."""
        if not episode_id:
            return None
        request = conversions.observation_to_request(episode_id, observation, self.compiler)
        response = self._call(request, self.compile_timeout_s)
        return conversions.compiled_from_response(response) if response is not None else None

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one, by the limit that memory named last."""
        return attempt < self._max_attempts

    def _call(self, request: Any, timeout_s: float = 0.0) -> Any:
        """Return the response; None, and a line in the log, where there is none or memory refused."""
        try:
            response = self._clients.call(request, timeout_s or self.timeout_s)
        except PeerTimeoutError as error:
            self.node.get_logger().warning(f"experience does not answer: {error}")
            return None
        if not response.success:
            self.node.get_logger().warning(
                f"experience refused {self._clients.of(type(request)).srv_name}: {response.message}"
            )
            return None
        return response
