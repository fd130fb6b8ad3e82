"""The parameter of every node that asks others for goals, or carries goals out."""

from __future__ import annotations

from pydantic import Field

from memory_node.domain.parameters import Expert, Parameters


class PeerParameters(Parameters):
    """When another node counts as gone."""

    peer_silence_s: Expert[float] = Field(
        default=0.3,
        ge=0.1,
        le=10.0,
        description="silence after which a node that asked for a goal, or carries one out, counts as gone",
    )
