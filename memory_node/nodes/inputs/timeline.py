"""Moments: stamps that stay in order when a clock is set back, and what several streams tell of one moment."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


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


class Synchronizer:
    """Groups each message of the leading stream with the nearest one of every other stream.

    A group is settled by stamps alone: when each stream has a message of the very moment, or has gone past it. So
    streams may overtake each other on the way without changing what belongs together. (message_filters'
    ApproximateTimeSynchronizer takes what is there first.)

    Args:
        streams: their names; the first one leads.
        slop_s: messages of one moment may be stamped this far apart.
        depth: so many messages of a stream wait at most; then the oldest is dropped.
        clock_jump_s: a step back of more than this means that the clock was set back, or that the stamp is wrong.
    """

    def __init__(self, streams: Sequence[str], slop_s: float, depth: int, clock_jump_s: float) -> None:
        self._leader, *self._others = streams
        self._slop_s = slop_s
        self._depth = depth
        self._timelines = Timelines(streams, clock_jump_s)
        self._waiting: dict[str, deque[tuple[Moment, Any]]] = {name: deque() for name in streams}
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._waiting[self._leader])

    def add(self, stream: str, stamp_ns: int, message: Any) -> None:
        """Take in the next message of a stream."""
        waiting = self._waiting[stream]
        waiting.append((self._timelines.moment(stream, stamp_ns), message))
        if len(waiting) > self._depth:
            waiting.popleft()
            self._dropped += stream == self._leader

    def take_dropped(self) -> int:
        """Return how many messages of the leading stream found no partners since the last call."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def settled(self, nothing_more: bool = False) -> Iterator[tuple[Moment, tuple[Any, ...]]]:
        """Yield (moment, messages in the order of the streams) of what is settled, in the leading stream's order.

        nothing_more: no stream brings anything for now, so the nearest that has come is the nearest there is.
        """
        leading = self._waiting[self._leader]
        while leading:
            moment, message = leading[0]
            partners = {name: self._partner(name, moment, nothing_more) for name in self._others}
            missing = [name for name, partner in partners.items() if partner is None]
            if not all(self._is_past(name, moment) for name in missing):
                return
            leading.popleft()
            self._let_go_before(moment)
            if missing:
                self._dropped += 1
                continue
            yield moment, (message, *(partner[1] for partner in partners.values() if partner is not None))

    def _partner(self, stream: str, moment: Moment, nothing_more: bool) -> tuple[Moment, Any] | None:
        """Return the message of a stream that is known to be the nearest to a moment, None while there is none."""
        near = [entry for entry in self._waiting[stream] if entry[0].apart_s(moment) <= self._slop_s]
        nearest = min(near, key=lambda entry: entry[0].apart_s(moment), default=None)
        if nearest is None or nearest[0] == moment or nothing_more or self._is_past(stream, moment):
            return nearest
        return None

    def _let_go_before(self, moment: Moment) -> None:
        """Drop what is too old for anything that the leading stream may still bring."""
        for name in self._others:
            waiting = self._waiting[name]
            while waiting and waiting[0][0] < moment and waiting[0][0].apart_s(moment) > self._slop_s:
                waiting.popleft()

    def _is_past(self, stream: str, moment: Moment) -> bool:
        return self._timelines.newest(stream) >= moment
