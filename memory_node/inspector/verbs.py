"""What agents, programs and people ask and tell a memory. Each verb is a function: a path of REST, a tool of agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, get_type_hints

from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.inspector import answers
from memory_node.inspector import requests as asks
from memory_node.inspector.access import Role
from memory_node.inspector.answers import nanoseconds
from memory_node.inspector.deeds import (
    Desk,
    confirm_relocalization,
    delete_document,
    edit_object,
    forget,
    known_object,
    move_object,
    remember,
    retract_fact,
    tell_fact,
    undo,
)
from memory_node.inspector.robot_tasks import RobotTasks, Task
from memory_node.knowledge.answering import Mode
from memory_node.questions.household import of_now
from memory_node.questions.past import span_of
from memory_node.questions.present import PresentQuestions, ThingWords

_UNITS_S = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_AGO = re.compile(r"^(?P<count>\d+(?:\.\d+)?) ?(?P<unit>s|min|h|d)$")


def find_objects(here: Desk, asked: asks.FindObjects) -> answers.Found:
    """Find things in the long-term scene graph by words ("the red fruit"), class, states, place or time.

    Memory abstains where it knows nothing that fits; the status says why.
    """
    query = _query(asked, area_id=asked.area_id, as_of_ns=nanoseconds(asked.as_of_s))
    return answers.Found.of(here.memory.find(query))


def recall_objects(here: Desk, asked: asks.RecallObjects) -> answers.Found:
    """Find things among those that the robot has just seen or used: the short-term memory, with fresh states."""
    return answers.Found.of(here.memory.recall(_query(asked)))


def locate_object(here: Desk, asked: asks.LocateObject) -> answers.Located:
    """Tell where a thing is by either memory; where no memory is sure, also where to look for it first."""
    query = _query(
        asked,
        area_id=asked.area_id,
        exclude_ids=frozenset(asked.exclude_ids),
        exclude_supports=frozenset(asked.exclude_supports),
    )
    found = here.memory.locate(query, asked.max_areas)
    areas = list(map(answers.PlaceToLook.of, found.areas))
    return answers.Located(**dict(answers.Found.of(found)), areas=areas)


def rank_search_areas(here: Desk, asked: asks.RankSearchAreas) -> list[answers.PlaceToLook]:
    """Tell where a thing of a class is likely, best first."""
    return list(map(answers.PlaceToLook.of, here.memory.rank_search_areas(asked.object_class, asked.k)))


def ask_memory(here: Desk, asked: asks.AskMemory) -> answers.Answer:
    """Ask in plain words: where a thing is, what is in or on another, how many there are, which are dirty, what the
    robot did, what people told, how something is done. Of what is now the scene graph decides; it abstains where
    nothing answers."""
    mode, as_of_ns = Mode(asked.mode) if asked.mode else None, nanoseconds(asked.as_of_s)
    return answers.Answer.of(here.memory.ask(asked.question, mode, asked.k, as_of_ns))


def contents(here: Desk, asked: asks.Contents) -> answers.Answer:
    """Tell what is in a room, or in or on a thing."""
    question = f"what is in {asked.place}"
    found = _present(here).answer(question)
    if found is None or not found.known:
        rooms = ", ".join(room.name for room in here.memory.scene().rooms) or "none"
        raise NotFoundError(
            f"place: expected a room or a thing that memory knows, got {asked.place!r}; rooms: {rooms:.500}; things "
            "are told by find_objects"
        )
    return answers.Answer.of(of_now(question, found))


def changes(here: Desk, asked: asks.Changes) -> answers.WhatChanged:
    """Tell in words what came, went, moved and became of things since a moment."""
    return answers.WhatChanged(changes=_present(here).changes(_moment(asked.since, here.clock())))


def episodes(here: Desk, asked: asks.Episodes) -> answers.ToldEpisodes:
    """List what the robot was told to do and how that ended, the newest first."""
    told = (here.views.episodes(asked.newest) or ()) if asked.newest else ()
    return answers.ToldEpisodes(episodes=list(map(answers.ToldEpisode.of, told)))


def object(here: Desk, asked: asks.OneObject) -> answers.Thing:
    """Tell all that is known of one thing: where it is, since when, in which states, what is on it."""
    scene, found = here.memory.scene(removed=True), known_object(here.memory, asked.object_id)
    now_ns = here.clock()
    return answers.Thing.told(found, scene, ThingWords(scene, here.kinds.recipient, now_ns), now_ns)


def get_context(here: Desk, asked: asks.GetContext) -> answers.ContextText:
    """Return what a language model is sent of memory for an instruction: things, places, experience, lessons."""
    context = here.memory.context(asked.instruction, asked.token_budget, asked.episode_id)
    return answers.ContextText.of(context, asked.token_budget)


def scene_text(here: Desk, asked: asks.SceneText) -> str:
    """Describe the whole home as the robot remembers it."""
    return here.memory.scene_text(asked.token_budget)


def carry_out(here: Desk, asked: asks.CarryOut) -> answers.TaskState:
    """Have the robot carry out an instruction. It begins and goes on by itself, whether you wait or not: ask `task` how
    far it is; `cancel` stops the robot. One instruction runs at a time."""
    return _state(_robot(here).start(asked.instruction))


def task(here: Desk, asked: asks.TaskOf) -> answers.TaskState:
    """Tell how far an instruction is, or what became of it, also long after its end."""
    return _state(_robot(here).task(asked.task_id, asked.wait_s))


def cancel(here: Desk, asked: asks.Cancel) -> answers.TaskState:
    """Have the robot stop; `task` tells when it has stopped."""
    return _state(_robot(here).cancel(asked.task_id))


@dataclass(frozen=True)
class Verb:
    """One of the functions above.

    role: who may. is_lasting: it cannot be taken back. is_repeatable: said twice it changes no more than said once.
    needs_robot: it is there where a robot may be commanded. agents_get: the one field of the answer that agents are
    told; "": all.
    """

    run: Callable[[Desk, Any], Any]
    role: Role
    is_lasting: bool = False
    is_repeatable: bool = False
    needs_robot: bool = False
    agents_get: str = ""

    @property
    def name(self) -> str:
        """What tool and path are called."""
        return self.run.__name__

    @property
    def words(self) -> str:
        """What it does."""
        return self.run.__doc__ or ""

    @property
    def request(self) -> type[asks.Request]:
        """What it takes."""
        _, request = list(get_type_hints(self.run).values())[:2]
        found: type[asks.Request] = request
        return found

    @property
    def answer(self) -> Any:
        """The type of what it gives."""
        return get_type_hints(self.run)["return"]


_READ = (
    *(find_objects, recall_objects, locate_object, rank_search_areas, ask_memory, contents, changes, episodes),
    *(object, scene_text),
)
VERBS: tuple[Verb, ...] = (
    *(Verb(run, "read", is_repeatable=True) for run in _READ),
    Verb(get_context, "read", is_repeatable=True, agents_get="text"),
    *(Verb(run, "edit") for run in (edit_object, delete_document, undo)),
    *(
        Verb(run, "edit", is_repeatable=True)
        for run in (remember, move_object, tell_fact, retract_fact, confirm_relocalization)
    ),
    Verb(forget, "forget", is_lasting=True),
    Verb(carry_out, "edit", is_lasting=True, needs_robot=True),
    Verb(task, "read", is_repeatable=True, needs_robot=True),
    Verb(cancel, "edit", is_repeatable=True, needs_robot=True),
)


def verbs_of(robot: RobotTasks | None) -> Iterable[Verb]:
    """Return the verbs that there are with a robot, or without one."""
    return (verb for verb in VERBS if robot is not None or not verb.needs_robot)


def _query(asked: asks.RecallObjects, **more: Any) -> FindQuery:
    near = None if asked.position is None else (asked.position[0], asked.position[1], asked.position[2])
    return FindQuery(
        text=asked.text,
        object_class=asked.object_class,
        states=tuple(asked.states),
        near=near,
        k=asked.k or FindQuery.k,
        **more,
    )


def _present(here: Desk) -> PresentQuestions:
    scene = here.memory.scene(removed=True)
    return PresentQuestions(here.kinds, scene, lambda stamp_ns: here.memory.scene(as_of_ns=stamp_ns), here.clock())


def _moment(since: str, now_ns: int) -> int:
    """Return the stamp of "today", "this morning", "90 min" or an ISO time.

    Raises:
        InvalidValueError: it is none of these.
    """
    words = " ".join(since.split()).lower()
    first, _ = span_of(words, now_ns, None)
    if first:
        return first
    ago = _AGO.match(words.removesuffix(" ago"))
    if ago is not None:
        return max(now_ns - nanoseconds(float(ago["count"]) * _UNITS_S[ago["unit"]]), 1)
    try:
        return max(nanoseconds(datetime.fromisoformat(since.strip()).timestamp()), 1)
    except (ValueError, OverflowError):
        raise InvalidValueError(
            "since: expected today, yesterday, this morning, this afternoon, this evening or last night, a span "
            f"such as 90 min, 2 h or 3 d, or a time such as 2026-05-03T08:00, got {since!r}"
        ) from None


def _robot(here: Desk) -> RobotTasks:
    if here.robot is None:
        raise NotFoundError("no robot may be commanded here")
    return here.robot


def _state(found: Task) -> answers.TaskState:
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    cost = answers.Cost.of(values.pop("cost"), values.pop("robot_s"))
    return answers.TaskState(task_id=values.pop("id"), cost=cost, **values)
