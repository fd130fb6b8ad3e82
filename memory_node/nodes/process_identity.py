"""Names processes so that others on the same machine can tell whether they have ended, or only wait for a processor.

A bond or DDS's liveliness cannot tell that apart: on a busy machine a live process may be silent for longer than its
lease, and a robot that stops for it would stop by mistake.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_FORM = re.compile(r"(?P<space>[0-9a-f-]{36}:\d{1,20}) (?P<process_id>[1-9]\d{0,8}) (?P<started>\d{1,20})")


def identity_of(process_id: int) -> str:
    """Return the name of a process that is there: the machine's boot and the space of process ids, the id, its start.

    Empty where the system does not tell.
    """
    try:
        return f"{_space()} {process_id} {_state_and_start(process_id)[1]}"
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
        state, started = _state_and_start(int(parts["process_id"]))
    except ProcessLookupError:
        return False
    except OSError:
        return None
    if started != parts["started"] or state in "ZXx":  # another process; a dead one
        return False
    return None if state in "Tt" else True


def _space() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"


def _state_and_start(process_id: int) -> tuple[str, str]:
    """Return the state's letter of /proc/PID/stat, and when the process started in clock ticks since boot."""
    text = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
    fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return fields[0], fields[19]
