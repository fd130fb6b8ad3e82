"""The parameters of nodes that ROS 2's lifecycle tools can start and stop."""

from __future__ import annotations

from pydantic import Field

from memory_node.domain.parameters import Expert, Parameters


class LifecycleParameters(Parameters):
    """Who brings the node to work: itself, or a lifecycle manager."""

    lifecycle: bool = Field(
        default=True, description="whether the node is managed (`ros2 lifecycle`); false: an ordinary node"
    )
    autostart: bool = Field(
        default=True, description="whether a managed node configures and activates itself at the start"
    )
    bond_period_s: Expert[float] = Field(
        default=0.1,
        ge=0.0,
        le=1.0,
        description="period of the heartbeat on bond while active, which Nav2's lifecycle manager watches; 0: none",
    )
