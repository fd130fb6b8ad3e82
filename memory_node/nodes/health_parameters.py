"""The parameters by which others tell that a node works: its lifecycle, the silence of its peers, /diagnostics."""

from __future__ import annotations

from pydantic import Field

from memory_node.domain.parameters import Expert, Live, Parameters


class DiagnosticUpdaterParameters(Parameters):
    """Of /diagnostics; the names are those of the package diagnostic_updater."""

    period: Live[float] = Field(
        default=1.0, ge=0.1, le=60.0, description="time between two messages on /diagnostics (s)"
    )
    use_fqn: Expert[bool] = Field(default=False, description="name statuses after the node with its namespace")


class PeerParameters(Parameters):
    """When another node counts as gone."""

    peer_silence_s: Expert[float] = Field(
        default=0.3,
        ge=0.1,
        le=10.0,
        description="silence after which a node that asked for a goal, or carries one out, counts as gone",
    )


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
