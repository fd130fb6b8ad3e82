"""The planner node's parameters of the verifier that looks at pictures."""

from __future__ import annotations

from typing import Literal

from memory_node.domain.parameters import Expert, Live, parameter
from memory_node.nodes.inputs.config import ImageTransport
from memory_node.planner.visual_verifier import VerifierConfig


class VerifierParameters(VerifierConfig):
    """Who verifies what a planner takes for done, and the camera that shows it."""

    kind: Literal["graph", "pictures"] = parameter(
        "graph",
        "graph: goals are checked against the scene graph; pictures: a model that sees, `llm.verifier`, then looks at "
        "the camera's newest picture, too",
    )
    image_topic: str = parameter(
        "camera/color/image_raw",
        "colour images of the robot's camera, listened to by kind pictures and expert.llm.sees",
    )
    image_transport: ImageTransport = parameter(
        "raw", "how they come, as image_transport names it; compressed: on TOPIC/compressed"
    )
    wait_s: Live[Expert[float]] = parameter(
        3.0, "how long a picture taken after the last skill is waited for", 0.0, 60.0
    )
