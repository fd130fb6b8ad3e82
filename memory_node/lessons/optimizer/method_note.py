"""A memory in fixed sentences: what deterministic optimizers write, merge and read again."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

GOAL = "the goal"
# Stands behind the verbs of a task that asks for several things of a kind.
SEVERAL = "again"
_MOST_PLACES = 8
_MOST_TRAPS = 3
_MOST_REPAIRS = 8

_TASK = re.compile(r"^Task: (?P<verbs>[^.]+?) with (?P<thing>[^.]+)\.")
_WAY = re.compile(r"\bWay: (?P<steps>[^.]+)\.")
_FOUND = re.compile(r"\bLook first at: (?P<places>[^.]+)\.")
_VAIN = re.compile(r"\bSeldom at: (?P<places>[^.]+)\.")
_TRAP = re.compile(r"\bTrap: (?P<text>[^.]+)\.")
_REPAIR = re.compile(r"\bBefore (?P<skill>\w+), do (?P<before>[^:.]+): else (?P<reason>[a-z ]+)\.")
# What belongs to the form of a step that puts a thing somewhere.
_FORM_OF_STEP = re.compile(rf" at\b(?: {GOAL}\b)?")


@dataclass(frozen=True)
class RepairNote:
    """Before `skill`, do `before` ("OpenObject(receptacle)"), or it fails for `reason`."""

    skill: str
    before: str
    reason: str

    @property
    def text(self) -> str:
        """The sentence that says it; reasons are written without underscores."""
        return f"Before {self.skill}, do {self.before}: else {self.reason.replace('_', ' ')}."


@dataclass(frozen=True)
class MethodNote:
    """What is known of one kind of task. All names are kinds.

    verbs: what is done with the thing, in order; () where nobody has succeeded yet. thing: what the task is about, ""
    where that is not known. way: the steps that worked. found_at: where it was found, the best place first. vain: where
    it was looked for without success. repairs: what has to be done before what. traps: root causes of failures.
    """

    verbs: tuple[str, ...] = ()
    thing: str = ""
    way: tuple[str, ...] = ()
    found_at: tuple[str, ...] = ()
    vain: tuple[str, ...] = ()
    repairs: tuple[RepairNote, ...] = ()
    traps: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The memory that says it."""
        verbs = ", ".join(self.verbs) or "not done yet"
        sentences = [
            f"Task: {verbs} with {self.thing or 'a thing'}.",
            f"Way: {'; '.join(self.way)}." if self.way else "",
            f"Look first at: {', '.join(self.found_at)}." if self.found_at else "",
            f"Seldom at: {', '.join(self.vain)}." if self.vain else "",
            *(repair.text for repair in self.repairs),
            *(f"Trap: {trap}." for trap in self.traps),
        ]
        return " ".join(filter(None, sentences))

    @property
    def names(self) -> tuple[str, ...]:
        """Its thing and places, and what each step names, without its verb and the words of its form."""
        steps = (_FORM_OF_STEP.sub("", step).partition(" ")[2] for step in self.way)
        return tuple(filter(None, (self.thing, *self.found_at, *self.vain, *steps)))

    @property
    def falls_short(self) -> bool:
        """Whether the sequence brings one thing although the task asks for several, because another one was there
        already."""
        return SEVERAL in self.verbs and len(set(self.way)) == len(self.way)

    def same_kind(self, other: MethodNote) -> bool:
        """Return whether both are about the same kind of task; a note without a success fits every note about its
        thing."""
        same_way = self.verbs == other.verbs or not self.verbs or not other.verbs
        return self.thing == other.thing and same_way

    def merged(self, newer: MethodNote) -> MethodNote:
        """Return both in one: the shorter way, and places in the order in which they proved themselves.

        A place where the thing was found again moves up by one (Rivest's transposition rule, 1976), so one odd
        attempt does not overthrow many.
        """
        ways = [note for note in (newer, self) if note.way]
        # A sequence that brought one thing does not show how to bring several.
        best = min(ways, key=lambda note: (note.falls_short, len(note.way))) if ways else self
        found = list(self.found_at)
        for place in newer.found_at:
            if place not in found:
                found.append(place)
            elif (rank := found.index(place)) > 0:
                found[rank - 1], found[rank] = found[rank], found[rank - 1]
        vain = tuple(p for p in dict.fromkeys((*self.vain, *newer.vain)) if p not in found)
        return replace(
            self,
            verbs=best.verbs,
            thing=self.thing or newer.thing,
            way=best.way,
            found_at=tuple(found[:_MOST_PLACES]),
            vain=vain[:_MOST_PLACES],
            repairs=tuple(dict.fromkeys((*newer.repairs, *self.repairs)))[:_MOST_REPAIRS],
            traps=tuple(dict.fromkeys((*newer.traps, *self.traps)))[:_MOST_TRAPS],
        )


def read_note(value: str) -> MethodNote | None:
    """Return the note that a memory says, None where it is written in other words."""
    task = _TASK.match(value)
    if task is None:
        return None
    verbs, thing = task["verbs"].strip(), task["thing"].strip()
    return MethodNote(
        () if verbs == "not done yet" else tuple(verbs.split(", ")),
        "" if thing == "a thing" else thing,
        _listed(_WAY.search(value), "steps", "; "),
        _listed(_FOUND.search(value), "places", ", "),
        _listed(_VAIN.search(value), "places", ", "),
        read_repairs(value),
        tuple(match["text"] for match in _TRAP.finditer(value)),
    )


def of_other_things(value: str, other: str) -> bool:
    """Return whether two memories are notes, each about a thing of its own."""
    notes = (read_note(value), read_note(other))
    things = {note.thing for note in notes if note is not None and note.thing}
    return len(things) > 1


def read_repairs(value: str) -> tuple[RepairNote, ...]:
    """Return the repairs that a memory says, also one that is no note."""
    found = [
        RepairNote(match["skill"], match["before"].strip(), match["reason"].replace(" ", "_"))
        for match in _REPAIR.finditer(value)
    ]
    return tuple(dict.fromkeys(found))


def _listed(match: re.Match[str] | None, group: str, between: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in match[group].split(between) if part.strip()) if match is not None else ()
