"""Moments that stay in order when a clock is set back, messages of one moment, and a queue in their order."""

from __future__ import annotations

import bisect
import itertools
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from memory_node.domain.errors import InputSkippedError


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


# After this time without any input, waiting inputs wait no longer (s).
IDLE_S = 1.0
# A report on another topic may come this much later than one of the same moment.
_OVERTAKEN_S = 0.2
# Where a picture takes at most this share of the time between two, measured over so many, what piled up while other
# work took the processor is worked off soon: so many pictures may then wait behind one.
_KEEPS_UP, _MEASURED, _CATCHES_UP = 0.6, 10, 3

Item = TypeVar("Item")
Ready = TypeVar("Ready")


@dataclass(order=True)
class _Input(Generic[Item, Ready]):
    moment: Moment
    number: int
    item: Item = field(compare=False)
    droppable: bool = field(compare=False)
    is_picture: bool = field(compare=False)
    arrived_s: float = field(compare=False)
    became: Ready | None = field(default=None, compare=False)


class _Pace:
    """Whether pictures are worked on faster than they come, in the mean of the last ones."""

    def __init__(self) -> None:
        self._last = Moment(0, 0)
        self._between_s = self._work_s = 0.0
        self._came = self._worked = 0

    @property
    def keeps_up(self) -> bool:
        return min(self._came, self._worked) >= _MEASURED and self._work_s <= _KEEPS_UP * self._between_s

    def came(self, moment: Moment) -> None:
        if self._last.run == moment.run and self._last.stamp_ns:
            self._came += 1
            self._between_s += (moment.apart_s(self._last) - self._between_s) / min(self._came, _MEASURED)
        self._last = moment

    def worked(self, seconds: float) -> None:
        self._worked += 1
        self._work_s += (seconds - self._work_s) / min(self._worked, _MEASURED)


@dataclass(eq=False)
class OrderedInputs(Generic[Item, Ready]):
    """Gives inputs out in the order of their moments; one that has to wait for something holds up those after it.

    An input gives up waiting by stamps: when inputs of more than `patience_s` later have come and it still lacks
    something. The wall clock is used only to wait briefly for overtaken messages, and to notice that inputs have
    stopped. Any thread may put; one thread takes.

    Args:
        ready: returns what an input has become, or None while it has to wait; `last_call`: it must not wait any longer.
            An input for which it raises is out of the queue.
        patience_s: how long to wait, by stamps.
        most: so many droppable inputs wait at most; then the oldest is skipped ("queue_full").
        behind: a picture with more of them behind it that are ready as well is dropped: what takes them is slower than
            the camera, and would work on ever older ones. Where it is clearly faster, three may be behind.
        on_idle: called by the thread that takes when nothing has come for a while; what has been settled by that may
            be put.
        skip: told of each input that was lost here.
        drop: told of each picture that was dropped for newer ones.

    Attributes:
        stopped: whether `stop` was called.
    """

    ready: Callable[[Item, bool], Ready | None]
    patience_s: float
    most: int
    behind: int
    on_idle: Callable[[], None]
    skip: Callable[[InputSkippedError], None]
    drop: Callable[[], object]

    def __post_init__(self) -> None:
        self._pace = _Pace()
        self._began_s = 0.0  # when the picture was given out that is being worked on
        self._numbers = itertools.count()
        self._waiting: list[_Input[Item, Ready]] = []
        self._newest = Moment(0, 0)
        self._changed = threading.Condition()
        self._stirred = False
        self._idle = False
        self._last_stir_s = time.monotonic()
        self.stopped = False

    def stop(self) -> None:
        """Give nothing out any more."""
        with self._changed:
            self.stopped = True
            self._changed.notify()

    def put(self, moment: Moment, item: Item, droppable: bool = True, is_picture: bool = False) -> None:
        """Add an input; when there is no room, the oldest droppable one has to go."""
        dropped = None
        with self._changed:
            others = [entry for entry in self._waiting if entry.droppable]
            if droppable and len(others) >= self.most:
                dropped = others[0]
                self._waiting.remove(dropped)
            arrived_s = time.monotonic()
            bisect.insort(self._waiting, _Input(moment, next(self._numbers), item, droppable, is_picture, arrived_s))
            if is_picture:
                self._pace.came(moment)
            if droppable:
                self._newest = max(self._newest, moment)
        if dropped is not None:
            self.skip(InputSkippedError("queue_full", f"{self.most} inputs are waiting"))
        self.stir()

    def stir(self) -> None:
        """Note that something has come that an input may have been waiting for."""
        with self._changed:
            self._last_stir_s = time.monotonic()
            if self._waiting:  # else nobody has anything to do
                self._stirred = True
                self._changed.notify()

    def take(self) -> Ready | None:
        """Wait until the first input in order is ready and return what it has become; None after `stop`."""
        if self._began_s:
            self._pace.worked(time.monotonic() - self._began_s)
            self._began_s = 0.0
        while not self.stopped:
            first = self._first_ready()
            if first is not None:
                self._began_s = time.monotonic() if first.is_picture else 0.0
                return first.became
            self._wait()
        return None

    def _first_ready(self) -> _Input[Item, Ready] | None:
        """Take out the first input if it is ready; drop it before, when too many behind it are ready as well."""
        ready = self._ready_in_order()
        behind = max(self.behind, _CATCHES_UP) if self._pace.keeps_up else self.behind
        superseded = sum(entry.is_picture for entry in ready) - (behind + 1)
        first, dropped = None, 0
        with self._changed:
            for entry in ready:
                if not self._waiting or entry is not self._waiting[0]:
                    break  # one that belongs before it has just come, and will be looked at
                del self._waiting[0]
                if not entry.is_picture or dropped >= superseded:
                    first = entry
                    break
                dropped += 1
        for _ in range(dropped):
            self.drop()
        return first

    def _ready_in_order(self) -> list[_Input[Item, Ready]]:
        """Return the first inputs that are ready, up to one that has to wait."""
        with self._changed:
            waiting = list(self._waiting)
        ready: list[_Input[Item, Ready]] = []
        for entry in waiting:
            if entry.became is None:
                self._try(entry, self._idle or self._is_overdue(entry))
            if entry.became is None:
                break
            ready.append(entry)
        with self._changed:  # some may have had to make room
            return [entry for entry in ready if entry in self._waiting]

    def _try(self, entry: _Input[Item, Ready], last_call: bool) -> None:
        try:
            entry.became = self.ready(entry.item, last_call)
        except BaseException:
            with self._changed:
                if entry in self._waiting:
                    self._waiting.remove(entry)
            raise

    def _wait(self) -> None:
        """Wait for something new, at most until the next deadline by the wall clock."""
        with self._changed:
            if not self._stirred and not self.stopped:
                self._changed.wait(_OVERTAKEN_S / 2.0 if self._waiting else IDLE_S)
            self._stirred = False
            self._idle = time.monotonic() - self._last_stir_s > IDLE_S
        if self._idle and not self.stopped:
            self.on_idle()

    def _is_overdue(self, head: _Input[Item, Ready]) -> bool:
        later = head.moment.run < self._newest.run or self._newest.apart_s(head.moment) > self.patience_s
        return later and time.monotonic() - head.arrived_s > _OVERTAKEN_S
