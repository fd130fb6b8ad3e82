"""Names processes so that others on the same machine can tell whether they are gone, or only wait for a processor."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

_FORM = re.compile(r"(?P<space>[0-9a-f-]{36}:\d{1,20}) (?P<process_id>[1-9]\d{0,9}) (?P<started>\d{1,20})")
# States of /proc/PID/stat: running, sleeping, waiting for a disk. A process in another one was stopped, or is dead.
_GOES_ON = "RSDI"
_IS_DEAD = "ZXx"


@dataclass(frozen=True)
class _Stat:
    """What /proc/PID/stat tells: the state's letter, and when the process started in clock ticks since boot."""

    state: str
    started: str


def identity_of(process_id: int) -> str:
    """Return the name of a process that is there: the machine's boot and the space of process ids, the id, its start.

    Empty where the system does not tell.
    """
    try:
        return f"{_space()} {process_id} {_stat(process_id).started}"
    except OSError:
        return ""


def goes_on(identity: str) -> bool | None:
    """Return whether the process of that name goes on, however slowly; None where that cannot be told from here.

    It cannot be told of a process on another machine or in another container, of one that a debugger or a signal has
    stopped, and of a name that is none.
    """
    parts = _FORM.fullmatch(identity)
    try:
        if parts is None or parts["space"] != _space():
            return None
        os.kill(int(parts["process_id"]), 0)  # tells also of processes that /proc hides
        stat = _stat(int(parts["process_id"]))
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return None
    if stat.started != parts["started"] or stat.state in _IS_DEAD:
        return False
    return True if stat.state in _GOES_ON else None


def _space() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"


def _stat(process_id: int) -> _Stat:
    text = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
    fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return _Stat(fields[0], fields[19])
