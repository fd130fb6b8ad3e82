"""The record of edits made through the inspector: who, what, when, and the undo."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from memory_node.domain.clock import Clock
from memory_node.domain.errors import ConflictError, InvalidValueError, NotFoundError, RobotMemoryError
from memory_node.domain.ids import new_id

State = Literal["waiting", "done", "undone", "failed"]
LONGEST_WAIT_S = 60.0
_KEPT = 1000
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Deed:
    """Something to change, in words.

    run: does it and returns the ids that it is about. undo: given these ids brings back what was before, None where
    nothing can. outcome: what came of it, in words, once it has run.
    """

    words: str
    run: Callable[[], tuple[str, ...]]
    undo: Callable[[tuple[str, ...]], None] | None = None
    outcome: Callable[[], str] = str


@dataclass(frozen=True)
class Edit:
    """One deed on record. due_ns: when it will be carried out, of one that waits. message: why it failed, or what came
    of it."""

    id: str
    who: str
    words: str
    stamp_ns: int
    state: State
    undoable: bool
    ids: tuple[str, ...] = ()
    due_ns: int = 0
    message: str = ""


class EditBook:
    """Carries deeds out and keeps the newest on record; thread-safe.

    An edit that cannot be undone may wait for a moment, in which undo cancels it; edits still waiting at the end are
    carried out. on_done: is called after each edit that was carried out, and after each that was taken back.
    """

    def __init__(self, clock: Clock, on_done: Callable[[], None] = lambda: None) -> None:
        self._clock = clock
        self._on_done = on_done
        self._lock = threading.RLock()
        self._edits: OrderedDict[str, Edit] = OrderedDict()
        self._deeds: dict[str, Deed] = {}
        self._timers: dict[str, threading.Timer] = {}

    def newest(self, count: int) -> tuple[Edit, ...]:
        """Return the newest edits, the newest first."""
        with self._lock:
            return tuple(reversed(self._edits.values()))[:count]

    def last_of(self, who: str) -> Edit:
        """Return the newest edit of somebody that can be taken back.

        Raises:
            NotFoundError: there is none.
        """
        with self._lock:
            for edit in reversed(self._edits.values()):
                if edit.who == who and edit.undoable:
                    return edit
        raise NotFoundError("you have changed nothing that could be taken back")

    def run(self, who: str, deed: Deed, wait_s: float = 0.0) -> Edit:
        """Do it now, or in `wait_s` seconds; return its record.

        Raises:
            InvalidValueError: the wait is negative or too long.
            RobotMemoryError: memory refuses what is done now.
        """
        if not 0.0 <= wait_s <= LONGEST_WAIT_S:
            raise InvalidValueError(f"wait_s: expected 0 to {LONGEST_WAIT_S:g}, got {wait_s}")
        now_ns = self._clock()
        edit = Edit(new_id(), who, deed.words, now_ns, "waiting", True, due_ns=now_ns + int(wait_s * 1e9))
        if not wait_s:
            return self._run(edit, deed)
        with self._lock:
            self._keep(edit, deed)
            timer = self._timers[edit.id] = threading.Timer(wait_s, self._run_late, (edit.id,))
            timer.daemon = True
            timer.start()
        return edit

    def undo(self, edit_id: str, who: str) -> Edit:
        """Call off an edit that waits, or bring back what was before it; return its record.

        Raises:
            NotFoundError: no such edit is on record.
            ConflictError: there is no way back, or it has been taken already.
            RobotMemoryError: memory refuses it.
        """
        with self._lock:
            if edit_id not in self._edits:
                raise NotFoundError(f"no edit {edit_id!r} is on record")
            edit, deed = self._edits[edit_id], self._deeds[edit_id]
            if edit.state == "waiting":
                self._timers.pop(edit_id).cancel()
            elif edit.state != "done" or deed.undo is None:
                raise ConflictError(f"this edit is {edit.state} and cannot be undone: {edit.words}")
            else:
                deed.undo(edit.ids)
                self._on_done()
            _log.info("%s undid the edit %s of %s: %s", who, edit_id, edit.who, edit.words)
            undone = self._edits[edit_id] = replace(edit, state="undone", undoable=False)
            return undone

    def close(self) -> None:
        """Carry out what waits."""
        with self._lock:
            for edit_id, timer in list(self._timers.items()):
                timer.cancel()
                self._run_late(edit_id)

    def _run_late(self, edit_id: str) -> None:
        with self._lock:
            if self._timers.pop(edit_id, None) is None:  # undone meanwhile
                return
            edit, deed = self._edits[edit_id], self._deeds[edit_id]
            try:
                self._run(edit, deed)
            except RobotMemoryError as error:
                _log.error("the edit %s of %s failed: %s: %s", edit_id, edit.who, edit.words, error)
                self._keep(replace(edit, state="failed", undoable=False, message=str(error)), deed)

    def _run(self, edit: Edit, deed: Deed) -> Edit:
        with self._lock:
            ids = deed.run()
            self._on_done()
            _log.info("edit %s by %s: %s", edit.id, edit.who, deed.words)
            done = replace(edit, state="done", undoable=deed.undo is not None, ids=ids, message=deed.outcome())
            self._keep(done, deed)
            return done

    def _keep(self, edit: Edit, deed: Deed) -> None:
        self._edits[edit.id] = edit
        self._deeds[edit.id] = deed
        while len(self._edits) > _KEPT + len(self._timers):
            oldest = next(iter(self._edits))
            if oldest in self._timers:
                break
            del self._edits[oldest], self._deeds[oldest]
