"""REST: edits of memory, and their record. Each edit names who made it, and most can be undone."""

from __future__ import annotations

from fastapi import APIRouter

from memory_node.domain.skill import StateChange
from memory_node.inspector import rest_answers as answers
from memory_node.inspector import rest_models as models
from memory_node.inspector.edit_book import Edit
from memory_node.inspector.inspector import Editor, Forgetter, Here, Reader
from memory_node.inspector.scene_rows import seconds

router = APIRouter(tags=["edits"])


@router.post("/remember")
def remember(told: models.Remember, here: Here, caller: Editor) -> answers.EditRecord:
    """Tell what is so of a thing now: its states, and where it was put."""
    position = None if told.position is None else (told.position[0], told.position[1], told.position[2])
    change = StateChange(
        told.object_id,
        told.object_class,
        0,
        added=tuple(told.added),
        removed=tuple(told.removed),
        held=False if told.support else None,
        support_id=told.support,
        inside=told.inside,
        position=position,
        source="user",
    )
    return _record(here.book.run(caller.name, here.deeds.remember(change), told.wait_s))


@router.post("/move_object")
def move_object(told: models.MoveObject, here: Here, caller: Editor) -> answers.EditRecord:
    """Tell that a thing is somewhere else."""
    deed = here.deeds.move(told.object_id, (told.position[0], told.position[1], told.position[2]))
    return _record(here.book.run(caller.name, deed, told.wait_s))


@router.post("/edit_object")
def edit_object(told: models.EditObject, here: Here, caller: Editor) -> answers.EditRecord:
    """Correct memory: relabel, call, merge, split, delete, restore, name_room."""
    position = (told.position[0], told.position[1], told.position[2])
    deed = here.deeds.edit(told.operation, told.object_id, told.other_id, told.new_class, position)
    return _record(here.book.run(caller.name, deed, told.wait_s))


@router.post("/tell_fact")
def tell_fact(told: models.TellFact, here: Here, caller: Editor) -> answers.EditRecord:
    """Tell a fact. Undo retracts it; what it took the place of counts again."""
    deed = here.deeds.tell_fact(told.text, told.teller)
    return _record(here.book.run(caller.name, deed, told.wait_s))


@router.post("/retract_fact")
def retract_fact(told: models.RetractFact, here: Here, caller: Editor) -> answers.EditRecord:
    """Let a statement count no longer; undo lets it count again (srv/TellFact)."""
    return _record(here.book.run(caller.name, here.deeds.retract_fact(told.text), told.wait_s))


@router.post("/confirm_relocalization")
def confirm_relocalization(told: models.ConfirmRelocalization, here: Here, caller: Editor) -> answers.EditRecord:
    """Say that the robot is localised in the map that the graph was built in."""
    return _record(here.book.run(caller.name, here.deeds.confirm_relocalization(), told.wait_s))


@router.post("/forget")
def forget(told: models.Forget, here: Here, caller: Forgetter) -> answers.EditRecord:
    """Erase a thing for ever, history and pictures included: let it wait to be able to call it off."""
    return _record(here.book.run(caller.name, here.deeds.forget(told.object_id), told.wait_s))


@router.post("/edits/{edit_id}/undo")
def undo(edit_id: models.Name, _: models.Undo, here: Here, caller: Editor) -> answers.EditRecord:
    """Call off an edit that waits, or bring back what was before it."""
    return _record(here.book.undo(edit_id, caller.name))


@router.get("/edits")
def edits(here: Here, _: Reader, newest: models.Count = 50) -> list[answers.EditRecord]:
    """List the newest edits that were made here, with who made them."""
    return list(map(_record, here.book.newest(newest)))


def _record(edit: Edit) -> answers.EditRecord:
    return answers.EditRecord(
        id=edit.id,
        who=edit.who,
        what=edit.words,
        stamp_s=seconds(edit.stamp_ns),
        state=edit.state,
        undoable=edit.undoable,
        ids=list(edit.ids),
        due_s=seconds(edit.due_ns),
        message=edit.message,
    )
