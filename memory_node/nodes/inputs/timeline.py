"""Moments: stamps that stay in order when a clock is set back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Moment:
    """A stamp and how often its stream's clock had been set back by then."""

    run: int
    stamp_ns: int

    def apart_s(self, other: Moment) -> float:
        """Return the time between two moments; endless if the clock was set back in between."""
        return abs(self.stamp_ns - other.stamp_ns) * 1e-9 if self.run == other.run else float("inf")


class Timeline:
    """Turns the stamps of one stream into moments: a step back of more than clock_jump_s begins another run.

    Each stream counts its own runs, so that it does not matter which of them tells first that the clock was set back.
    """

    def __init__(self, clock_jump_s: float) -> None:
        self._clock_jump_ns = int(clock_jump_s * 1e9)
        self._newest = Moment(0, -(2**62))

    @property
    def newest(self) -> Moment:
        """The latest moment so far."""
        return self._newest

    def moment(self, stamp_ns: int) -> Moment:
        """Return the moment of the stream's next message."""
        run = self._newest.run + (self._newest.stamp_ns - stamp_ns > self._clock_jump_ns)
        moment = Moment(run, stamp_ns)
        self._newest = max(self._newest, moment)
        return moment
