"""What came of one skill or instruction of the simulated body."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RelationCount:
    """Things in view: told: memory has them on or in something; right: as physics does; there: physics does at all."""

    told: int = 0
    right: int = 0
    there: int = 0

    def __add__(self, other: RelationCount) -> RelationCount:
        return RelationCount(self.told + other.told, self.right + other.right, self.there + other.there)

    @property
    def precision(self) -> float | None:
        """Of what memory tells; None where it tells nothing."""
        return self.right / self.told if self.told else None

    @property
    def recall(self) -> float | None:
        """Of what is so; None where nothing is."""
        return self.right / self.there if self.there else None


@dataclass(frozen=True)
class Outcome:
    """The robot's report and the result by physics. claimed: the robot reports success. success: physics confirms it.
    cause: the reason of a failure; "denied" if the robot reports success and physics does not confirm it.
    position_errors_m: of the remembered positions of what the camera saw in the end. relations: of the same things.
    """

    kind: str
    what: str
    claimed: bool
    success: bool
    cause: str
    distance_m: float
    seconds: float
    position_errors_m: tuple[float, ...] = ()
    relations: RelationCount = RelationCount()
