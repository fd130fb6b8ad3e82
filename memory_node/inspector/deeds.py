"""The edits that people make, each with its undo, which memory keeps."""

from __future__ import annotations

from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.ids import new_id
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.inspector.agent_memory import AgentMemory
from memory_node.inspector.edit_book import Deed

Metres3 = tuple[float, float, float]
OPERATIONS = ("relabel", "call", "merge", "split", "delete", "restore", "name_room")
# The stamp of what is told: memory's own now.
_NOW = 0


class Deeds:
    """Makes edits of a memory.

    Raises (every method that takes an id):
        NotFoundError: nothing in the scene graph carries it; it names what may be meant.
    """

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    def edit(self, operation: str, object_id: str, other_id: str, new_class: str, position: Metres3) -> Deed:
        """Return one of the operations of srv/EditObject.

        Raises:
            InvalidValueError: there is no such operation.
        """
        if operation not in OPERATIONS:
            raise InvalidValueError(f"operation: expected one of {', '.join(OPERATIONS)}, got {operation!r}")
        words = self._words(operation, object_id, other_id, new_class)
        edit_id = new_id()
        return Deed(
            words,
            lambda: (self._memory.edit(operation, object_id, other_id, new_class, position, edit_id),),
            lambda _: self._take_back(edit_id),
        )

    def move(self, object_id: str, position: Metres3) -> Deed:
        """Return: an object is at a place (x, y, z) in map, m, now, and it is not known what it stands on."""
        found = self._object(object_id)
        x, y, z = position
        change = StateChange(found.id, found.class_name, _NOW, held=False, position=position, source="user")
        return self._told(f"move {_named(found)} to ({x:.2f}, {y:.2f}, {z:.2f})", change)

    def remember(self, change: StateChange) -> Deed:
        """Return: what is so of an object now, its states and its place; one that is told with a place may be new."""
        told = [f"is {state}" for state in change.added] + [f"is no longer {state}" for state in change.removed]
        told += ["was put down"] if change.held is False or change.position is not None else []
        return self._told(f"remember that {change.object_id or change.object_class} {', '.join(told)}", change)

    def tell_fact(self, text: str, teller: str) -> Deed:
        """Return: a person tells a fact. Its undo retracts it; what it took the place of counts again."""

        def run() -> tuple[str, ...]:
            return tuple(one.text for one in self._memory.tell_fact(text, teller) if one.active)

        def undo(told: tuple[str, ...]) -> None:
            for one in told:
                self._memory.retract_fact(one)

        return Deed(f"tell: {text}", run, undo)

    def retract_fact(self, text: str) -> Deed:
        """Return: a statement, by its text, counts no longer."""

        def run() -> tuple[str, ...]:
            self._memory.retract_fact(text)
            return (text,)

        return Deed(f"retract: {text}", run, lambda _: self._memory.retract_fact(text, back=True))

    def forget(self, object_id: str) -> Deed:
        """Return: an object is erased, history included, for ever."""
        found = self._object(object_id)

        def run() -> tuple[str, ...]:
            self._memory.forget(found.id)
            return (found.id,)

        return Deed(f"forget {_named(found)}", run)

    def confirm_relocalization(self) -> Deed:
        """Return: the robot is localised in the map that the graph was built in."""

        def run() -> tuple[str, ...]:
            self._memory.confirm_relocalization()
            return ()

        return Deed("confirm that the robot is localised in the map of its memory", run)

    def _told(self, words: str, change: StateChange) -> Deed:
        edit_id = new_id()
        return Deed(words, lambda: self._memory.remember([change], edit_id), lambda _: self._take_back(edit_id))

    def _take_back(self, edit_id: str) -> None:
        self._memory.edit("undo", edit_id)

    def _words(self, operation: str, object_id: str, other_id: str, new_class: str) -> str:
        if operation == "name_room":
            return f"call the room {self._room(object_id)} {new_class}"
        found = _named(self._object(object_id))
        if operation == "merge":
            return f"merge {_named(self._object(other_id))} into {found}"
        return {
            "relabel": f"rename {found} to {new_class}",
            "call": f"call {found} {new_class!r} as well",
            "split": f"split {found} in two",
            "delete": f"take {found} out of the present",
            "restore": f"bring {found} back",
        }[operation]

    def _room(self, room_id: str) -> str:
        rooms = {room.id: room.name for room in self._memory.scene().rooms}
        if room_id not in rooms:
            known = ", ".join(f"{name} ({one})" for one, name in rooms.items()) or "none"
            raise NotFoundError(f"no room {room_id!r} is in the scene graph; known: {known:.500}")
        return rooms[room_id] or room_id

    def _object(self, object_id: str) -> SceneObject:
        found = self._memory.scene_of_one(object_id).objects if object_id else ()
        if not found:
            alike = self._memory.find(FindQuery(text=object_id, k=5)).answers if object_id.strip() else ()
            known = ", ".join(f"{one.object_class} ({one.object_id})" for one in alike)
            hint = f"; known: {known}" if known else ""
            raise NotFoundError(f"no object {object_id!r} is in the scene graph{hint}")
        return found[0]


def _named(found: SceneObject) -> str:
    return found.name or f"{found.class_name} {found.id[-6:]}"
