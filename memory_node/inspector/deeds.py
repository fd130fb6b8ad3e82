"""The edits that people and agents make, each with its undo, which memory keeps.

Those that name a thing raise NotFoundError where nothing in the scene graph carries it; it names what may be meant.
"""

from __future__ import annotations

from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import new_id
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.inspector import requests as asks
from memory_node.inspector.agent_memory import AgentMemory
from memory_node.inspector.edit_book import Deed
from memory_node.knowledge.answering import Mode
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.told.telling import in_words

# The stamp of what is told: memory's own now.
_NOW = 0
# Statements among which those are that a told fact says again.
_ALIKE = 20


def edit(memory: AgentMemory, told: asks.EditObject) -> Deed:
    """Return one of the operations of srv/EditObject."""
    position, words, edit_id = _position(told.position) or (0.0, 0.0, 0.0), _words(memory, told), new_id()

    def run() -> tuple[str, ...]:
        return (memory.edit(told.operation, told.object_id, told.other_id, told.new_class, position, edit_id),)

    return Deed(words, run, lambda _: _take_back(memory, edit_id))


def move(memory: AgentMemory, told: asks.MoveObject) -> Deed:
    """Return: an object is at a place (x, y, z) in map, m, now, and it is not known what it stands on."""
    found = known_object(memory, told.object_id)
    x, y, z = told.position
    change = StateChange(found.id, found.class_name, _NOW, held=False, position=(x, y, z), source="user")
    return _told(memory, f"move {_named(found)} to ({x:.2f}, {y:.2f}, {z:.2f})", change)


def remember(memory: AgentMemory, told: asks.Remember) -> Deed:
    """Return: what is so of an object now, its states and its place; one that is told with a place may be new."""
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
    return _told(memory, f"remember that {told.object_id or told.object_class} {', '.join(said)}", change)


def tell_fact(memory: AgentMemory, told: asks.TellFact) -> Deed:
    """Return: a person tells a fact. Its outcome says whether it was understood. Its undo retracts it, unless it had
    been told before and counted; what it took the place of counts again."""
    counted: set[str] = set()
    kept: list[Proposition] = []

    def run() -> tuple[str, ...]:
        alike = memory.ask(told.text, Mode.SEMANTIC, _ALIKE).propositions
        counted.update(_bare(one.text) for one in alike if one.active)
        statements = memory.tell_fact(told.text, told.teller)
        kept[:] = statements
        return tuple(one.text if one.active else f"{_NO_LONGER}{one.text}" for one in statements)

    def undo(statements: tuple[str, ...]) -> None:
        for one in statements:
            if not one.startswith(_NO_LONGER) and _bare(one) not in counted:
                memory.retract_fact(one)

    return Deed(f"tell: {told.text}", run, undo, lambda: in_words(kept))


def _bare(statement: str) -> str:
    return statement.strip().rstrip(".").casefold()


def retract_fact(memory: AgentMemory, told: asks.RetractFact) -> Deed:
    """Return: a statement, by its text, counts no longer."""

    def run() -> tuple[str, ...]:
        memory.retract_fact(told.text)
        return (told.text,)

    return Deed(f"retract: {told.text}", run, lambda _: memory.retract_fact(told.text, back=True))


def delete_document(memory: AgentMemory, told: asks.DeleteDocument) -> Deed:
    """Return: what is known from a document alone is deleted."""

    def run() -> tuple[str, ...]:
        memory.delete_document(told.document)
        return ()

    return Deed(f"delete {told.document}", run, lambda _: memory.delete_document(told.document, back=True))


def forget(memory: AgentMemory, told: asks.Forget) -> Deed:
    """Return: an object is erased, history included, for ever."""
    found = known_object(memory, told.object_id)

    def run() -> tuple[str, ...]:
        memory.forget(found.id)
        return (found.id,)

    return Deed(f"forget {_named(found)}", run)


def confirm_relocalization(memory: AgentMemory) -> Deed:
    """Return: the robot is localised in the map that the graph was built in."""

    def run() -> tuple[str, ...]:
        memory.confirm_relocalization()
        return ()

    return Deed("confirm that the robot is localised in the map of its memory", run)


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


def _told(memory: AgentMemory, words: str, change: StateChange) -> Deed:
    edit_id = new_id()
    return Deed(words, lambda: memory.remember([change], edit_id), lambda _: _take_back(memory, edit_id))


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
