"""What a shape is drawn from: its size, colour and state, with the parts that are given as fractions of the size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.sim.mesh import Mesh, block, turned

DARK = 0.55
LIGHT = 1.25


@dataclass(frozen=True, eq=False)
class Look:
    """What a shape is drawn from: half sizes (3,) in metres along its own axes, colour (3,) 0 to 1, levels, state."""

    half: NDArray[np.float64]
    colour: NDArray[np.float64]
    levels: tuple[float, ...] = (1.0,)
    is_closed: bool = False
    is_on: bool = False

    @property
    def dark(self) -> NDArray[np.float64]:
        """A darker shade of the colour."""
        return self.colour * DARK

    @property
    def light(self) -> NDArray[np.float64]:
        """A lighter shade of the colour."""
        return np.clip(self.colour * LIGHT, 0.0, 1.0)

    def z(self, fraction: float) -> float:
        """Return the height at a fraction of the whole height."""
        return float(-self.half[2] + 2.0 * fraction * self.half[2])

    def part(self, low: tuple[float, float, float], high: tuple[float, float, float], shade: str = "colour") -> Mesh:
        """Return a block between two corners given as fractions (-1 to 1) of the half sizes."""
        return block(np.array(low) * self.half, np.array(high) * self.half, getattr(self, shade))

    def turned(self, profile: list[tuple[float, float]], shade: str = "colour") -> Mesh:
        """Return a turned profile given as fractions of the half width and of the height."""
        scaled = [(radius, self.z(height)) for radius, height in profile]
        return turned(scaled, getattr(self, shade), (float(self.half[0]), float(self.half[1])))
