"""The homes and tasks of a file: rooms, things with their descriptions, goals with their order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchmarks.rows import open_text
from memory_node.domain.errors import InvalidValueError, faults_of

Id = Annotated[str, Field(min_length=1)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Thing(_Entry):
    """One thing of a task: its class, what a person would say that it looks like, the furniture that it stands on."""

    id: Id
    class_name: Id = Field(alias="class")
    caption: str
    at: Id


class Goal(_Entry):
    """One condition: at least `number` of `any_of` stand as `relation` says to one of `places` or `others`."""

    relation: Literal["on", "in", "next_to", "in_room", "on_floor"]
    any_of: tuple[Id, ...]
    places: tuple[Id, ...] = ()
    others: tuple[Id, ...] = ()
    number: int = 1


class Task(_Entry):
    """One instruction with the world that it begins in.

    goals with `before` (i, j): goal i must have been met before goal j was. at_the_end: indexes of goals that must hold
    when the task ends. related: the first tasks that ground it; told: the authors' summary, a line for each of them.
    """

    id: Id
    kind: str
    subtype: str = ""
    instruction: Id
    objects: tuple[Thing, ...]
    goals: tuple[Goal, ...]
    before: tuple[tuple[int, int], ...] = ()
    at_the_end: tuple[int, ...] = ()
    related: tuple[Id, ...] = ()
    told: str = ""

    @model_validator(mode="after")
    def _indexes_are_goals(self) -> Task:
        indexes = {index for pair in self.before for index in pair} | set(self.at_the_end)
        if not all(0 <= index < len(self.goals) for index in indexes):
            raise ValueError(f"task {self.id}: before and at_the_end name goals 0 to {len(self.goals) - 1}")
        return self


class Home(_Entry):
    """One home: its rooms with their furniture, the tasks of the first day and the later ones."""

    home: Id
    rooms: Mapping[Id, tuple[Id, ...]]
    first: tuple[Task, ...]
    single: tuple[Task, ...]
    joint: tuple[Task, ...]

    @model_validator(mode="after")
    def _names_are_known(self) -> Home:
        furniture = {one for listed in self.rooms.values() for one in listed}
        first = {task.id for task in self.first}
        for task in (*self.first, *self.single, *self.joint):
            known = furniture | {thing.id for thing in task.objects} | set(self.rooms)
            named = {thing.at for thing in task.objects}
            for goal in task.goals:
                named |= {*goal.any_of, *goal.places, *goal.others}
            if named - known:
                raise ValueError(
                    f"task {task.id}: no such thing, furniture or room: {', '.join(sorted(named - known))}"
                )
            if set(task.related) - first:
                raise ValueError(f"task {task.id}: related: expected first tasks, got {', '.join(task.related)}")
        return self


def load_homes(path: Path) -> tuple[Home, ...]:
    """Return the homes of a file (.json or .json.gz).

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: it is no list of homes; the message names home and key.
    """
    with open_text(path) as file:
        try:
            content = json.load(file)
        except ValueError as error:
            raise InvalidValueError(f"{path}: no JSON: {error}") from error
    if not isinstance(content, list):
        raise InvalidValueError(f"{path}: expected a list of homes, got {type(content).__name__}")
    homes = []
    for number, entry in enumerate(content):
        try:
            homes.append(Home.model_validate(entry))
        except ValidationError as error:
            raise InvalidValueError(f"{path}, home {number}: {'; '.join(faults_of(error, 'home'))}") from error
    return tuple(homes)
