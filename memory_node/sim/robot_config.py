"""The simulated robot's body, pace and mishaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RobotConfig:
    """The simulated robot's body and pace.

    reach_m: how far its arm gets, seen from above. view_range_m and field_of_view_rad: what the oracle detector sees.
    look_s: one glance in one direction; a look around is four. step_s: how fine motion is shown in real time.
    """

    speed_m_s: float = 0.5
    turn_rad_s: float = 1.2
    reach_m: float = 1.0
    view_range_m: float = 1.5
    field_of_view_rad: float = 1.6
    look_s: float = 1.0
    step_s: float = 0.1
    camera_height_m: float = 1.35
    camera_pitch_rad: float = 0.4
    hand_height_m: float = 0.95
    hand_ahead_m: float = 0.4


@dataclass(frozen=True)
class ExecutionFaults:
    """How often each skill fails by itself (a slipping gripper): probability by skill name, "*" for all others."""

    probability: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def of(self, skill: str) -> float:
        """Return the probability in [0, 1] that the skill fails."""
        return self.probability.get(skill, self.probability.get("*", 0.0))
