"""Retrieves M, once when an episode begins: what experience and the map hold for its goals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory_node.context.task_memory import Entry, Needed, TaskMemory, of_lesson, of_places, reminders
from memory_node.context.ways import Subgoal
from memory_node.domain.answer import RankedArea
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.long_term import ExperienceQuery

# Likely places that are retrieved for each thing of a task.
_MOST_PLACES = 3
# Returns the areas where a class is likely, best first, at most k.
RankAreas = Callable[[str, int], Sequence[RankedArea]]
# Returns M for an episode: its id, its instruction and its goals in words.
Retrieve = Callable[[str, str, Sequence[str]], TaskMemory]


@dataclass(eq=False)
class TaskRetrieval:
    """A `Retrieve` over all memories of one robot. of_tries: what tries teach now. needed: returns what tells what they
    teach of a call.
    """

    experience: Experience
    rank_areas: RankAreas
    of_tries: Callable[[], Sequence[Lesson]] = tuple
    needed: Callable[[], Needed] = lambda: TaskMemory().needed

    def __call__(self, episode_id: str, instruction: str, goals: Sequence[str]) -> TaskMemory:
        """Return what is known that may matter."""
        return replace(TaskMemory.of(self._entries(episode_id, instruction, goals)), needed=self.needed())

    def _entries(self, episode_id: str, instruction: str, goals: Sequence[str]) -> Iterator[Entry]:
        task_type = "+".join(goal.partition(" ")[0] for goal in goals)
        query = ExperienceQuery(task_type=task_type, episode_id=episode_id, instruction=instruction)
        learnt = self.experience.ask(query)
        yield from map(of_lesson, learnt.lessons)
        yield from reminders(learnt.failed_before)
        # What tries teach may be about a thing that no goal names: the tap, or the door of the microwave.
        yield from map(of_lesson, self.of_tries())
        yield from map(of_lesson, self.experience.ways_to(instruction))
        subgoals = [Subgoal.parse(goal) for goal in goals]
        for name in dict.fromkeys(name for subgoal in subgoals for name in (subgoal.target, subgoal.light)):
            if name:
                yield from of_places(name, self.rank_areas(name, _MOST_PLACES))
