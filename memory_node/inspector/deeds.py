"""The edits that people and agents make: verbs, each with its undo, and the record of them: who, what, when.

Those that name a thing raise NotFoundError where nothing in the scene graph carries it; it names what may be meant.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import FindQuery
from memory_node.domain.clock import Clock
from memory_node.domain.errors import ConflictError, InvalidValueError, NotFoundError, RobotMemoryError
from memory_node.domain.ids import new_id
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.inspector import requests as asks
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.answers import EditRecord
from memory_node.inspector.requests import LONGEST_WAIT_S
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.knowledge.answering import Mode
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.told.telling import in_words

State = Literal["waiting", "done", "undone", "failed"]
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


@dataclass(frozen=True)
class Desk:
    """What verbs work on. kinds: the label space. clock: "now" on memory's time line. caller: who asks.

    robot: carries out instructions; None: nobody may have it do that here.
    """

    memory: AgentMemory
    views: MemoryViews
    kinds: ObjectCatalogue
    clock: Clock
    book: EditBook
    robot: RobotTasks | None = None
    caller: str = "agent"

    def of(self, caller: str) -> Desk:
        """Return the same for another caller."""
        return replace(self, caller=caller)

    def carry_out(self, deed: Deed, told: asks.Edit) -> EditRecord:
        """Make an edit, or have it wait, and keep it on record."""
        return EditRecord.of(self.book.run(self.caller, deed, told.wait_s))


# The stamp of what is told: memory's own now.
_NOW = 0
# Statements among which those are that a told fact says again.
_ALIKE = 20


def edit_object(here: Desk, told: asks.EditObject) -> EditRecord:
    """Correct memory by hand: relabel, call, merge, split, delete, restore, name_room."""
    position, words, edit_id = _position(told.position) or (0.0, 0.0, 0.0), _words(here.memory, told), new_id()

    def run() -> tuple[str, ...]:
        return (here.memory.edit(told.operation, told.object_id, told.other_id, told.new_class, position, edit_id),)

    return here.carry_out(Deed(words, run, lambda _: _take_back(here.memory, edit_id)), told)


def move_object(here: Desk, told: asks.MoveObject) -> EditRecord:
    """Tell that a thing is somewhere else."""
    found = known_object(here.memory, told.object_id)
    x, y, z = told.position
    change = StateChange(found.id, found.class_name, _NOW, held=False, position=(x, y, z), source="user")
    return _told(here, told, f"move {_named(found)} to ({x:.2f}, {y:.2f}, {z:.2f})", change)


def remember(here: Desk, told: asks.Remember) -> EditRecord:
    """Tell memory what is so of a thing now, for example that a mug is clean or lies in a drawer.

    Without object_id the only thing of object_class is meant, or a new one whose place is told. What memory does not
    know is refused with what may be meant.
    """
    change = StateChange(
        told.object_id,
        told.object_class,
        _NOW,
        added=tuple(told.added),
        removed=tuple(told.removed),
        held=told.held or (False if told.support else None),
        support_id=told.support,
        inside=told.inside,
        position=_position(told.position),
        source="user",
    )
    said = [f"is {state}" for state in change.added] + [f"is no longer {state}" for state in change.removed]
    said += ["was picked up"] if told.held else ["was put down"] if told.support or told.position is not None else []
    return _told(here, told, f"remember that {told.object_id or told.object_class} {', '.join(said)}", change)


def tell_fact(here: Desk, told: asks.TellFact) -> EditRecord:
    """Tell a fact that a person said; ids: the statements that memory understood. "Forget that ..." takes one back.

    Undo retracts it; what it took the place of counts again.
    """
    counted: set[str] = set()
    kept: list[Proposition] = []

    def run() -> tuple[str, ...]:
        alike = here.memory.ask(told.text, Mode.SEMANTIC, _ALIKE).propositions
        counted.update(_bare(one.text) for one in alike if one.active)
        statements = here.memory.tell_fact(told.text, told.teller)
        kept[:] = statements
        return tuple(one.text if one.active else f"{_NO_LONGER}{one.text}" for one in statements)

    def undo(statements: tuple[str, ...]) -> None:
        for one in statements:
            if not one.startswith(_NO_LONGER) and _bare(one) not in counted:
                here.memory.retract_fact(one)

    return here.carry_out(Deed(f"tell: {told.text}", run, undo, lambda: in_words(kept)), told)


def _bare(statement: str) -> str:
    return statement.strip().rstrip(".").casefold()


def retract_fact(here: Desk, told: asks.RetractFact) -> EditRecord:
    """Let a statement count no longer, a told fact for example: memory answers nothing from it any more."""

    def run() -> tuple[str, ...]:
        here.memory.retract_fact(told.text)
        return (told.text,)

    return here.carry_out(
        Deed(f"retract: {told.text}", run, lambda _: here.memory.retract_fact(told.text, back=True)), told
    )


def delete_document(here: Desk, told: asks.DeleteDocument) -> EditRecord:
    """Delete what is known from a document, a talk or an episode alone. Undo brings it back."""

    def run() -> tuple[str, ...]:
        here.memory.delete_document(told.document)
        return ()

    return here.carry_out(
        Deed(f"delete {told.document}", run, lambda _: here.memory.delete_document(told.document, back=True)), told
    )


def undo(here: Desk, told: asks.Undo) -> EditRecord:
    """Call off an edit that waits, or bring back what was before it."""
    edit_id = told.edit_id or here.book.last_of(here.caller).id
    return EditRecord.of(here.book.undo(edit_id, here.caller))


def forget(here: Desk, told: asks.Forget) -> EditRecord:
    """Erase a thing for ever, history and pictures included: let it wait to be able to call it off."""
    found = known_object(here.memory, told.object_id)

    def run() -> tuple[str, ...]:
        here.memory.forget(found.id)
        return (found.id,)

    return here.carry_out(Deed(f"forget {_named(found)}", run), told)


def confirm_relocalization(here: Desk, told: asks.ConfirmRelocalization) -> EditRecord:
    """Confirm that the robot is localised in the map of its memory, once a person or the localiser says so.

    Answers with the status frame_not_verified wait for it: the map may have had another origin when they were seen.
    """

    def run() -> tuple[str, ...]:
        here.memory.confirm_relocalization()
        return ()

    return here.carry_out(Deed("confirm that the robot is localised in the map of its memory", run), told)


def known_object(memory: AgentMemory, object_id: str) -> SceneObject:
    """Return an object by its id or name.

    Raises:
        NotFoundError: nothing in the scene graph carries it; it names what may be meant.
    """
    found = memory.scene_of_one(object_id).objects if object_id else ()
    if not found:
        alike = memory.find(FindQuery(text=object_id, k=5)).answers if object_id.strip() else ()
        things = (one for answer in alike for one in memory.scene_of_one(answer.object_id).objects)
        known = ", ".join(f"{_named(one)} ({one.id})" for one in things) or "find_objects tells ids"
        raise NotFoundError(f"no object {object_id!r} is in the scene graph; known: {known}")
    return found[0]


# Before a statement that does not count any more.
_NO_LONGER = "no longer: "


def _told(here: Desk, told: asks.Edit, words: str, change: StateChange) -> EditRecord:
    memory, edit_id = here.memory, new_id()
    deed = Deed(words, lambda: memory.remember([change], edit_id), lambda _: _take_back(memory, edit_id))
    return here.carry_out(deed, told)


def _take_back(memory: AgentMemory, edit_id: str) -> None:
    memory.edit("undo", edit_id)


def _words(memory: AgentMemory, told: asks.EditObject) -> str:
    if told.operation == "name_room":
        return f"call the room {_room(memory, told.object_id)} {told.new_class}"
    found = _named(known_object(memory, told.object_id))
    if told.operation == "merge":
        return f"merge {_named(known_object(memory, told.other_id))} into {found}"
    return {
        "relabel": f"rename {found} to {told.new_class}",
        "call": f"call {found} {told.new_class!r} as well",
        "split": f"split {found} in two",
        "delete": f"take {found} out of the present",
        "restore": f"bring {found} back",
    }[told.operation]


def _room(memory: AgentMemory, room_id: str) -> str:
    rooms = {room.id: room.name for room in memory.scene().rooms}
    if room_id not in rooms:
        known = ", ".join(f"{name} ({one})" for one, name in rooms.items()) or "none"
        raise NotFoundError(f"no room {room_id!r} is in the scene graph; known: {known:.500}")
    return rooms[room_id] or room_id


def _named(found: SceneObject) -> str:
    return found.name or f"{found.class_name} {found.id[-6:]}"


def _position(told: list[float] | None) -> tuple[float, float, float] | None:
    return None if told is None else (told[0], told[1], told[2])
