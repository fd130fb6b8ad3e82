"""What the planner node needs to verify instructions by its camera."""

from __future__ import annotations

from rclpy.node import Node

from memory_node.domain.clock import Clock
from memory_node.nodes.camera_pictures import CameraPictures
from memory_node.nodes.diagnostics import Diagnosis
from memory_node.nodes.verifier_parameters import VerifierParameters
from memory_node.planner.planner import Planner
from memory_node.planner.seen_verification import SeenVerification
from memory_node.planner.verification_counts import VerificationCounts
from memory_node.planner.visual_verifier import open_seer


class PictureVerification:
    """Listens to the camera and verifies the successes of planners by its pictures.

    clock: the node's, which stamps pictures, too.
    """

    def __init__(self, node: Node, config: VerifierParameters, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._seer = open_seer(config.llm)
        self._pictures = CameraPictures(node, config)
        self._counts = VerificationCounts()

    def of(self, inner: Planner) -> Planner:
        """Return a planner whose successes are verified."""
        return SeenVerification(inner, self._seer, self._pictures, self._clock, self._config, self._counts)

    def diagnosis(self) -> Diagnosis:
        """Return how many outcomes were verified, refused, not visible and skipped; why, where the last one was."""
        problem = self._counts.problem
        return Diagnosis(self._counts.values(), (problem,) if problem else ())

    def end(self) -> None:
        """Wait for no picture any more."""
        self._pictures.end()
