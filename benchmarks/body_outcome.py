"""What came of one skill or instruction of the simulated body."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What the robot says of it, and what physics says.

    claimed: the robot says that it is done. success: physics says so, too. cause: the reason of a failure; "denied"
    where the robot claims what physics denies. position_errors_m: of the remembered positions of what the camera saw
    in the end.
    """

    kind: str
    what: str
    claimed: bool
    success: bool
    cause: str
    distance_m: float
    seconds: float
    position_errors_m: tuple[float, ...] = ()
