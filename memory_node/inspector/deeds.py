"""The edits that people make, each with its undo."""

from __future__ import annotations

from typing import Any

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.inspector.agent_memory import AgentMemory
from memory_node.inspector.edit_book import Deed

Metres3 = tuple[float, float, float]
OPERATIONS = ("relabel", "call", "merge", "split", "delete", "restore", "name_room")
# The stamp of what is told: memory's own now.
_NOW = 0
_BELIEVED = 0.5


class Deeds:
    """Makes edits of a memory. The data for undo are read when the edit is made.

    Raises (every method that takes an id):
        NotFoundError: nothing in the scene graph carries it.
    """

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    def edit(self, operation: str, object_id: str, other_id: str, new_class: str, position: Metres3) -> Deed:
        """Return one of the operations of srv/EditObject.

        Raises:
            InvalidValueError: there is no such operation.
        """
        if operation == "relabel":
            return self._relabel(object_id, new_class)
        if operation == "call":
            deed = f"call {_named(self._object(object_id))} {new_class!r} as well"
            return Deed(deed, lambda: (self._memory.edit("call", object_id, new_class=new_class),))
        if operation == "merge":
            return self._merge(object_id, other_id)
        if operation == "split":
            return self._split(object_id, position)
        if operation == "delete":
            return self._delete(object_id)
        if operation == "restore":
            return self._restore(object_id)
        if operation == "name_room":
            return self._name_room(object_id, new_class)
        raise InvalidValueError(f"operation: expected one of {', '.join(OPERATIONS)}, got {operation!r}")

    def move(self, object_id: str, position: Metres3) -> Deed:
        """Return: an object is at a place (x, y, z) in map, m, now, and it is not known what it stands on."""
        found = self._object(object_id)
        x, y, z = position
        change = _change(found, held=False, position=position)
        return Deed(
            f"move {_named(found)} to ({x:.2f}, {y:.2f}, {z:.2f})",
            lambda: self._memory.remember([change]),
            lambda _: self._put_back(found),
        )

    def remember(self, change: StateChange) -> Deed:
        """Return: what is so of an object now, its states and its place; of an unknown one it enters memory."""
        known = self._known(change.object_id)
        told = [f"is {state}" for state in change.added] + [f"is no longer {state}" for state in change.removed]
        placed = ["was put down"] if change.held is False or change.position is not None else []
        words = f"remember that {change.object_class} {change.object_id} {', '.join(told + placed)}"

        def undo(ids: tuple[str, ...]) -> None:
            if known is None:
                for object_id in filter(None, ids):
                    self._memory.edit("delete", object_id)
                return
            before, after = _states(known), _states(self._object(known.id))
            self._memory.remember([_change(known, added=tuple(before - after), removed=tuple(after - before))])
            if placed:
                self._put_back(known)

        return Deed(words, lambda: self._memory.remember([change]), undo)

    def tell_fact(self, text: str, teller: str) -> Deed:
        """Return: a person tells a fact. Nothing takes it back, but a later fact may take its place."""
        return Deed(f"tell: {text}", lambda: tuple(one.text for one in self._memory.tell_fact(text, teller)))

    def forget(self, object_id: str) -> Deed:
        """Return: an object is erased, history included, for ever."""
        found = self._object(object_id)

        def run() -> tuple[str, ...]:
            self._memory.forget(object_id)
            return (object_id,)

        return Deed(f"forget {_named(found)}", run)

    def confirm_relocalization(self) -> Deed:
        """Return: the robot is localised in the map that the graph was built in."""

        def run() -> tuple[str, ...]:
            self._memory.confirm_relocalization()
            return ()

        return Deed("confirm that the robot is localised in the map of its memory", run)

    def _relabel(self, object_id: str, new_class: str) -> Deed:
        found = self._object(object_id)
        return Deed(
            f"rename {_named(found)} to {new_class}",
            lambda: (self._memory.edit("relabel", object_id, new_class=new_class),),
            lambda _: self._ignore(self._memory.edit("relabel", object_id, new_class=found.class_name)),
        )

    def _merge(self, object_id: str, other_id: str) -> Deed:
        kept, ended = self._object(object_id), self._object(other_id)

        def undo(_: tuple[str, ...]) -> None:
            second = self._memory.edit("split", object_id, position=_center(ended))
            if ended.class_name != kept.class_name:
                self._memory.edit("relabel", second, new_class=ended.class_name)

        return Deed(
            f"merge {_named(ended)} into {_named(kept)}",
            lambda: (self._memory.edit("merge", object_id, other_id),),
            undo,
        )

    def _split(self, object_id: str, position: Metres3) -> Deed:
        found = self._object(object_id)
        return Deed(
            f"split {_named(found)} in two",
            lambda: (self._memory.edit("split", object_id, position=position),),
            lambda ids: self._ignore(self._memory.edit("merge", object_id, ids[0])),
        )

    def _delete(self, object_id: str) -> Deed:
        found = self._object(object_id)

        def undo(_: tuple[str, ...]) -> None:
            self._memory.edit("restore", object_id)
            self._put_back(found)

        return Deed(f"take {_named(found)} out of the present", lambda: (self._memory.edit("delete", object_id),), undo)

    def _restore(self, object_id: str) -> Deed:
        found = self._object(object_id, removed=True)
        return Deed(
            f"bring {_named(found)} back",
            lambda: (self._memory.edit("restore", object_id),),
            lambda _: self._ignore(self._memory.edit("delete", object_id)),
        )

    def _name_room(self, room_id: str, name: str) -> Deed:
        room = next((one for one in self._memory.scene().rooms if one.id == room_id), None)
        if room is None:
            raise NotFoundError(f"no room {room_id!r} is in the scene graph")
        return Deed(
            f"call the room {room.name or room.id} {name}",
            lambda: (self._memory.edit("name_room", room_id, new_class=name),),
            lambda _: self._ignore(self._memory.edit("name_room", room_id, new_class=room.name)),
        )

    def _put_back(self, found: SceneObject) -> None:
        change = _change(found, held=False, position=_center(found), support_id=found.support_id, inside=found.inside)
        self._memory.remember([change])

    def _known(self, object_id: str, removed: bool = False) -> SceneObject | None:
        found = self._memory.scene_of_one(object_id).objects if object_id else ()
        return found[0] if found and (removed or not found[0].removed) else None

    def _object(self, object_id: str, removed: bool = False) -> SceneObject:
        found = self._known(object_id, removed)
        if found is None:
            raise NotFoundError(f"no object {object_id!r} is in the scene graph")
        return found

    @staticmethod
    def _ignore(_: str) -> None:
        """Take an id that nobody needs."""


def _change(found: SceneObject, **what: Any) -> StateChange:
    return StateChange(found.id, found.class_name, _NOW, source="user", **what)


def _states(found: SceneObject) -> set[ObjectState]:
    return {belief.state for belief in found.states if belief.probability >= _BELIEVED}


def _center(found: SceneObject) -> Metres3:
    x, y, z = (float(value) for value in found.box.center)
    return x, y, z


def _named(found: SceneObject) -> str:
    return found.name or f"{found.class_name} {found.id[-6:]}"
