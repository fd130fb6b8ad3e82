"""The parameters by which others tell that a node works: its lifecycle, the silence of its peers, /diagnostics."""

from __future__ import annotations

from memory_node.domain.parameters import Expert, Live, Parameters, parameter


class DiagnosticUpdaterParameters(Parameters):
    """Of /diagnostics; the names are those of the package diagnostic_updater."""

    period: Live[float] = parameter(1.0, "time between two messages on /diagnostics (s)", 0.1, 60.0)
    use_fqn: Expert[bool] = parameter(False, "name statuses after the node with its namespace")


class PeerParameters(Parameters):
    """When another node counts as gone."""

    peer_silence_s: Expert[float] = parameter(
        0.3,
        "silence after which a node on another machine counts as gone; on this one it takes 3 s at least",
        0.1,
        10.0,
    )


class LifecycleParameters(Parameters):
    """Who brings the node to work: itself, or a lifecycle manager."""

    lifecycle: bool = parameter(True, "whether the node is managed (`ros2 lifecycle`); false: an ordinary node")
    autostart: bool = parameter(True, "whether a managed node configures and activates itself at the start")
    bond_period_s: Expert[float] = parameter(
        0.1, "period of the heartbeat on bond while active, which Nav2's lifecycle manager watches; 0: none", 0.0, 1.0
    )
