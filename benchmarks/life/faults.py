"""Faults of a home: calls that fail although their declared preconditions hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.life.calls import MeantCall, plain, with_wholes
from benchmarks.life.day_form import Fault, FaultKeys
from benchmarks.life.local_clock import is_between
from memory_node.catalogue.class_name import folded
from memory_node.domain.skill import FailureReason


@dataclass
class _Active:
    """A fault that has begun. tried: in this instruction. is_off: until the next event."""

    fault: Fault
    tried: int = 0
    is_off: bool = False


class HomeFaults:
    """The faults that have begun and not ended; now_ns: the time."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._active: list[_Active] = []

    def begin(self, fault: Fault) -> None:
        """Let a fault begin."""
        self._active.append(_Active(fault))

    def mend(self, keys: Fault) -> int:
        """End the faults that have all of some keys; return how many."""
        ended = [one for one in self._active if is_mended_by(one.fault, keys)]
        self._active = [one for one in self._active if one not in ended]
        return len(ended)

    def begin_instruction(self) -> None:
        """Count tries anew."""
        for one in self._active:
            one.tried = 0

    def begin_event(self) -> None:
        """End what other calls have put right for a while."""
        for one in self._active:
            one.is_off = False

    def hinders(self, call: MeantCall) -> FailureReason | None:
        """Return why a call fails now, None where nothing hinders it."""
        for one in self._active:
            fault = one.fault
            if one.is_off or not _fits(fault, call):
                continue
            if not is_between(self._now_ns(), fault.from_minute, fault.to_minute):
                continue
            one.tried += 1
            if not fault.tries or one.tried <= fault.tries:
                return fault.reason
        return None

    def hinders_always(self, call: MeantCall) -> Fault | None:
        """Return the fault by which a call fails now however often it is tried, None where there is none."""
        now_ns = self._now_ns()
        for one in self._active:
            fault = one.fault
            on_time = is_between(now_ns, fault.from_minute, fault.to_minute)
            if not one.is_off and not fault.tries and on_time and _fits(fault, call):
                return fault
        return None

    def note_success(self, call: MeantCall) -> None:
        """Take note of a call that may put a fault right."""
        for one in self._active:
            if one.fault.unless is not None and _fits(one.fault.unless, call):
                one.is_off = True


def is_mended_by(fault: Fault, keys: Fault) -> bool:
    """Return whether a fault has all keys that are given."""
    return all(getattr(fault, name) == getattr(keys, name) for name in keys.model_fields_set)


def _fits(keys: FaultKeys, call: MeantCall) -> bool:
    thing_fits = not keys.thing or keys.thing in with_wholes([call.first])
    class_fits = not keys.class_name or folded(keys.class_name) == folded(call.first_class)
    place_fits = not keys.place or keys.place in call.places
    return plain(keys.skill) == plain(call.skill) and thing_fits and class_fits and place_fits
