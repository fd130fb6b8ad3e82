"""A film of the robot in its home, as a person who walks along would see it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from memory_node.domain.errors import ResourceMissingError
from memory_node.sim.physics.rgbd_camera import Image

WIDTH, HEIGHT = 480, 360
# Simulated seconds between two frames, and how much faster the film runs.
FRAME_S, SPEED_UP = 0.5, 4.0


class Film:
    """Writes frames (HEIGHT, WIDTH, 3) RGB into an mp4 file, one for each FRAME_S of simulated time at most.

    Raises:
        ResourceMissingError: the file cannot be written there.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        code = cv2.VideoWriter.fourcc(*"mp4v")
        self._writer = cv2.VideoWriter(str(path), code, SPEED_UP / FRAME_S, (WIDTH, HEIGHT))
        if not self._writer.isOpened():
            raise ResourceMissingError(f"no film can be written to {path}")
        self._next_s = 0.0

    def is_due(self, time_s: float) -> bool:
        """Return whether a frame is due at a simulated time."""
        return time_s >= self._next_s

    def add(self, frame: Image, time_s: float) -> None:
        """Add the frame of a simulated time."""
        self._next_s = time_s + FRAME_S
        self._writer.write(np.ascontiguousarray(frame[..., ::-1]))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.release()
