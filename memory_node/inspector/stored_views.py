"""The views of a memory in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from memory_node.context.past_episode import PastEpisode
from memory_node.domain.errors import NotFoundError
from memory_node.domain.scene import Place, SceneEvent, SceneEventKind
from memory_node.domain.step import EpisodeSummary
from memory_node.inspector.agent_memory import CacheView, Listener, MemoryChange
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.mode import Mode
from memory_node.lessons.lesson import Lesson
from memory_node.memory import RobotMemory

_GONE = (SceneEventKind.REMOVED, SceneEventKind.MERGED, SceneEventKind.FORGOTTEN)


class StoredViews:
    """`MemoryViews` of a `RobotMemory`."""

    def __init__(self, memory: RobotMemory) -> None:
        self._memory = memory

    def crop_jpeg(self, object_id: str) -> bytes | None:
        """Return the best view of an object."""
        try:
            return self._memory.one_object(object_id).crop_jpeg or None
        except NotFoundError:
            return None

    def cache(self) -> CacheView | None:
        """Return the short-term memory."""
        statistics = self._memory.statistics()
        return CacheView(self._memory.cache.leaving(), {**asdict(statistics), "hit_ratio": statistics.hit_ratio or 0.0})

    def episodes(self, newest: int) -> tuple[EpisodeSummary, ...] | None:
        """Return the newest episodes of all robots, the newest first."""
        return self._memory.past.episodes(newest)

    def episode(self, episode_id: str) -> PastEpisode:
        """Return what is kept of an episode."""
        return self._memory.past.episode(episode_id)

    def lessons(self) -> tuple[Lesson, ...] | None:
        """Return the lessons that memory holds."""
        return self._memory.lessons()

    def places(self, object_id: str) -> tuple[Place, ...]:
        """Return where an object was before, or all objects."""
        if object_id:
            return self._memory.one_object(object_id).history
        return tuple(place for one in self._memory.scene(removed=True).objects for place in one.history)

    def statements(self, concept: str, k: int) -> tuple[Proposition, ...]:
        """Return the k statements that say most of a concept."""
        about = self._memory.knowledge.about({concept}, k)
        return tuple(about) or self._memory.ask(concept, Mode.SEMANTIC, k).propositions

    def figures(self) -> dict[str, float]:
        """Return the figures of /diagnostics by name."""
        told = self._memory.diagnostics()
        return {name: float(value) for name, value in told.items() if isinstance(value, (int, float))}

    def working_memory(self, episodes: Sequence[EpisodeSummary] | None) -> str | None:
        """Return the last steps of the episode that began last."""
        running = self._memory.experience.running
        view = self._memory.experience.working_memory(running[-1].id) if running else None
        return None if view is None else view.text()

    def robot_path(self) -> tuple[tuple[int, float, float], ...]:
        """Return nothing: a memory does not keep the robot's path."""
        return ()

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change of the scene graph."""

        def on_change(events: tuple[SceneEvent, ...], from_version: int, to_version: int) -> None:
            changed = tuple(event.object for event in events if event.kind not in _GONE)
            gone = tuple(event.object.id for event in events if event.kind in _GONE)
            ids = tuple(found.id for found in changed)
            listener(MemoryChange(to_version, ids, gone, from_version, changed))

        return self._memory.on_change(on_change)
