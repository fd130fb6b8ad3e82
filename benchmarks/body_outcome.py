"""What came of one skill or instruction of the simulated body."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """The robot's report and the result by physics. claimed: the robot reports success. success: physics confirms it.
    cause: the reason of a failure; "denied" if the robot reports success and physics does not confirm it.
    position_errors_m: of the remembered positions of what the camera saw in the end.
    """

    kind: str
    what: str
    claimed: bool
    success: bool
    cause: str
    distance_m: float
    seconds: float
    position_errors_m: tuple[float, ...] = ()
