"""Moments: stamps that stay in order when a clock is set back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Moment:
    """A stamp and how often its stream's clock had been set back by then."""

    run: int
    stamp_ns: int

    def apart_s(self, other: Moment) -> float:
        """Return the time between two moments; endless if the clock was set back in between."""
        return abs(self.stamp_ns - other.stamp_ns) * 1e-9 if self.run == other.run else float("inf")


_BEGIN = Moment(0, -(2**62))


class Timelines:
    """Turns the stamps of streams that belong together into moments which can be compared between them.

    A step of more than clock_jump_s, forth or back, brings a stream into the run in which another one is about there.
    Where no other is, a step back begins a new run. So one message with a stamp from anywhere does not part a stream
    from the others for ever, as it would if each counted its steps by itself.
    """

    def __init__(self, streams: Iterable[str], clock_jump_s: float, strangers: bool = False) -> None:
        """streams: those known from the beginning; others come in with their first message. strangers: some may have
        nothing to do with the others, so that a new run is counted by the stream that begins it."""
        self._strangers = strangers
        self._clock_jump_ns = int(clock_jump_s * 1e9)
        self._newest = dict.fromkeys(streams, _BEGIN)

    @property
    def streams(self) -> Collection[str]:
        """The streams so far."""
        return self._newest.keys()

    @property
    def runs(self) -> Counter[int]:
        """How many streams are in each run now."""
        return Counter(newest.run for newest in self._newest.values())

    def newest(self, stream: str) -> Moment:
        """Return the latest moment of a stream since it last stepped."""
        return self._newest[stream]

    def moment(self, stream: str, stamp_ns: int) -> Moment:
        """Return the moment of a stream's next message."""
        newest = self._newest.setdefault(stream, _BEGIN)
        step_ns = stamp_ns - newest.stamp_ns
        if abs(step_ns) <= self._clock_jump_ns:
            moment = Moment(newest.run, stamp_ns)
            self._newest[stream] = max(newest, moment)
        else:
            moment = self._newest[stream] = Moment(self._run_at(stream, stamp_ns, step_ns < 0), stamp_ns)
        return moment

    def _run_at(self, stream: str, stamp_ns: int, is_back: bool) -> int:
        others = [newest for name, newest in self._newest.items() if name != stream]
        # Half of the jump: others that have not been set back yet are further off.
        near = [one.run for one in others if abs(one.stamp_ns - stamp_ns) <= self._clock_jump_ns // 2]
        if near:
            return max(near)
        if not is_back:
            return self._newest[stream].run
        counted = [self._newest[stream]] if self._strangers else self._newest.values()
        return max(newest.run for newest in counted) + 1
