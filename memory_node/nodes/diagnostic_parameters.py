"""The parameters of /diagnostics."""

from __future__ import annotations

from pydantic import Field

from memory_node.domain.parameters import Expert, Live, Parameters


class DiagnosticUpdaterParameters(Parameters):
    """Of /diagnostics; the names are those of the package diagnostic_updater."""

    period: Live[float] = Field(
        default=1.0, ge=0.1, le=60.0, description="time between two messages on /diagnostics (s)"
    )
    use_fqn: Expert[bool] = Field(default=False, description="name statuses after the node with its namespace")
