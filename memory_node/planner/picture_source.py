"""Where a planner gets pictures of the robot's camera from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class SeenPicture:
    """A picture of the robot's camera as JPEG or PNG, and when it was taken (ns). closer: the middle of it, larger, b""
    for none."""

    stamp_ns: int
    coded: bytes = field(repr=False)
    closer: bytes = field(default=b"", repr=False)


class PictureSource(Protocol):
    """The robot's camera."""

    def newest(self, earliest_ns: int) -> SeenPicture | None:
        """Return the newest picture, waiting a bounded time for one taken at `earliest_ns` or later; None for none.

        Raises:
            InputSkippedError: the newest picture cannot be read; `reason` says what it is counted under.
        """
