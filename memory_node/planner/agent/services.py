"""Memory's services as tools: short answers in names, what others wrote in quotes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from memory_node.catalogue.class_name import folded
from memory_node.context.recalled import episode_lines, quoted
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.states import ATTRIBUTES
from memory_node.domain.step import Deed
from memory_node.knowledge.answering import KnowledgeAnswer
from memory_node.lessons.expectations import ENABLING, LATELY_NS
from memory_node.planner.agent.home_names import HomeNames, joined
from memory_node.planner.agent.model_goals import words_of
from memory_node.planner.agent.task import Task
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.questions.going_on import going_on
from memory_node.world.state import Thing

_MOST_LINES, _MOST_EPISODES, _MOST_TOLD = 20, 12, 5
_LONGEST_UNFINISHED, _MOST_UNFINISHED = 160, 3


@runtime_checkable
class AskedMemory(Protocol):
    """A memory that answers questions from what it was told and has read."""

    def ask(self, question: str) -> KnowledgeAnswer:
        """Return the answer."""


def shortened(lines: Sequence[str], most: int, rest: str) -> list[str]:
    """Return the first lines, with how many more there are and how to get them."""
    more = len(lines) - most
    return [*lines[:most], f"... and {more} more; {rest}"] if more > 0 else list(lines)


class Services:
    """Answers the tools that ask memory. used: tells the names of what this task has used so far."""

    def __init__(self, task: Task, names: HomeNames, lookup: MemoryLookup, used: Callable[[], Sequence[str]]) -> None:
        self._task = task
        self._names = names
        self._lookup = lookup
        self._used = used

    def find(self, name: str) -> str:
        """Return all known things of a class or name, in a room or in a state; the world names them from now on."""
        task, called, meant = self._task, self._names.class_called(name), self._names.meant(name)
        object_class = called or meant.object_class
        if object_class:
            self._names.widen((object_class, *sorted(task.world.kinds.alike((object_class,)))))
            task.refresh()
            meant = self._names.meant(name)
        # The name of a class may be that of one thing, too: all of them are told.
        one = (meant.thing.id,) if meant.thing is not None else ()
        wanted = {thing.id for thing in task.world.state.of_class(called)} or {*meant.several} or {*one}
        known = self._names.lines(task.situation.scene(), True)
        lines = joined({one: line for one, line in known.items() if one in wanted})
        unnamed = task.world.left_out[called]
        lines += [f"and {unnamed} {called} more"] if lines and unnamed else []
        lines += self._names.side_by_side(task.world.state.of_class(called), task.situation.scene())
        if lines and not one and name[-1:].isdigit():
            lines.insert(0, f"{quoted(name, 60)} is not known any more; the others are:")
        lines = lines or ([] if object_class else self._in_room(name) or self._in_state(name))
        if lines:
            return "\n".join(shortened(lines, _MOST_LINES, "find one by its name, or what holds it"))
        if not object_class:
            return f"nothing is called {quoted(name, 60)}, and no class either; Explore looks for it all the same"
        likely = self._names.likely(object_class)
        return f"memory knows of no {object_class}; {likely or 'it may be anywhere'}{self._names.alike(object_class)}"

    def _in_room(self, name: str) -> list[str]:
        """Return what is in a room, in words; the world names it from now on. Empty for the name of no room."""
        things = self._task.world.episode.state if folded(name) else ()
        return self._lines_of([one for one in things if folded(one.room) == folded(name)])

    def _lines_of(self, things: Sequence[Thing]) -> list[str]:
        """Return what is known of some things; the world names their classes from now on."""
        self._names.widen(dict.fromkeys(one.object_class for one in things))
        self._task.refresh()
        lines = dict(zip(self._task.world.things, self._task.world.lines()))
        return joined({one.id: lines[one.id] for one in things if one.id in lines})

    def _in_state(self, name: str) -> list[str]:
        """Return what is believed to be in a state that a name says ("dirty"), or that nothing is, with what this task
        has used, which such words may mean; the world names it from now on. Empty where the name says no state."""
        said = {ATTRIBUTES[word] for word in words_of(name) if word in ATTRIBUTES}
        if not said:
            return []
        used = ", ".join(self._used())
        nothing = f"nothing is known to be {quoted(name, 60)}" + (f"; used in this task: {used}" if used else "")
        return self._lines_of([one for one in self._task.world.episode.state if one.states & said]) or [nothing]

    def locate(self, name: str) -> str:
        """Return where a thing is by memory, and the areas where else to look."""
        found = self.find(name)
        object_class = self._names.class_called(name) or self._names.meant(name).object_class
        if not object_class:
            return found
        self._lookup.locate(object_class)
        likely = self._names.likely(object_class)
        return f"{found}\nelse {likely}" if likely and likely not in found else found

    def ask(self, question: str) -> str:
        """Return what knowledge answers."""
        memory = self._task.situation.memory
        assert isinstance(memory, AskedMemory)
        try:
            answer = memory.ask(question)
        except RobotMemoryError as error:
            return f"memory cannot answer: {error}"
        if answer.abstains:
            return "nothing that was told or read answers this"
        lines = [quoted(one.text) for one in answer.propositions] or [quoted(answer.text)]
        return "\n".join(shortened(list(dict.fromkeys(lines)), _MOST_TOLD, "ask for less at once"))

    def recall_past(self, about: str) -> str:
        """Return what the robot did or tried with things of a class, by instruction, the newest last, with what it
        opened and switched for that, and what it left unfinished with them."""
        known, world = self._task.situation.known, self._task.world
        assert known is not None
        object_class, past = self._names.class_called(about), known.recalled
        # Every thing has its name, whether the list tells of it or not.
        names = {thing.memory_id: thing.id for thing in world.episode.state if thing.memory_id}
        deeds = _deeds_with(object_class, past.tried)
        lines = episode_lines(deeds, past.asked, names, known.clock(), past.zone)
        if len(lines) > _MOST_EPISODES:
            lines = [f"(of {len(lines)} instructions the newest {_MOST_EPISODES})", *lines[-_MOST_EPISODES:]]
        named_in = world.kinds.spoken_names.named_in
        left = [
            one.instruction
            for one in past.unfinished
            if not object_class or any(names[0] == object_class for names in named_in(one.instruction.lower()))
            if not going_on(one.instruction)
        ]
        lines += [f"unfinished: {quoted(text, _LONGEST_UNFINISHED)}" for text in dict.fromkeys(left[:_MOST_UNFINISHED])]
        return "\n".join(lines) or "nothing that fits was done"


def _is_with(object_class: str, deed: Deed) -> bool:
    return object_class in ("", deed.object_class, deed.from_class, deed.to_class)


def _deeds_with(object_class: str, deeds: Sequence[Deed]) -> list[Deed]:
    """Return the deeds with things of a class, "" for any, and what was opened and switched in the same instructions,
    or between a try that failed and the next one."""
    mine = [number for number, deed in enumerate(deeds) if _is_with(object_class, deed)]
    episodes = {deeds[number].episode_id for number in mine}
    between = {
        number
        for one, after in itertools.pairwise(mine)
        if deeds[one].reason and deeds[after].stamp_ns - deeds[one].stamp_ns <= LATELY_NS
        for number in range(one, after)
    }
    return [
        deed
        for number, deed in enumerate(deeds)
        if _is_with(object_class, deed)
        or (deed.skill in ENABLING and not deed.reason and (deed.episode_id in episodes or number in between))
    ]
