"""The interface of memory for agents and people, for a file or a running node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_node.context.told_contexts import PastEpisode
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import Place, SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.domain.step import EpisodeSummary
from memory_node.knowledge.answering import KnowledgeAnswer, Mode
from memory_node.knowledge.facts import Proposition
from memory_node.lessons.lesson import Lesson
from memory_node.short_term.object_cache import CachedUnit


class AgentMemory(MemoryPort, Protocol):
    """A memory port with more verbs: text of the scene, questions, told facts, corrections and forgetting."""

    def scene(self, as_of_ns: int = 0, removed: bool = False) -> SceneSnapshot:
        """Return the scene graph, now or as of a stamp; removed: with objects that are kept for their history."""

    def scene_of_one(self, object_id: str, as_of_ns: int = 0) -> SceneSnapshot:
        """Return one object alone, now (removed or not) or as of a stamp; none where nothing has, or had, this id."""

    def scene_text(self, token_budget: int) -> str:
        """Return the scene graph in words within a budget."""

    def ask(self, question: str, mode: Mode | None = None, k: int = 0, as_of_ns: int = 0) -> KnowledgeAnswer:
        """Return what is known that answers; mode None: found out from the question; k = 0: memory's own number."""

    def tell_fact(self, text: str, teller: str = "", stamp_ns: int = 0) -> tuple[Proposition, ...]:
        """Take over what a person told; return its statements once they are durable."""

    def retract_fact(self, text: str, back: bool = False) -> None:
        """Let a statement, by its text, count no longer; back: let it count again."""

    def delete_document(self, document: str, back: bool = False) -> None:
        """Delete what is known from a document, talk or episode alone; back: bring it back."""

    def remember(self, changes: Sequence[StateChange], edit_id: str = "") -> tuple[str, ...]:
        """Take over changes; edit_id: under which they can be undone (`edit("undo", edit_id)`)."""

    def edit(
        self,
        operation: str,
        object_id: str,
        other_id: str = "",
        new_class: str = "",
        position: tuple[float, float, float] = (0.0, 0.0, 0.0),
        edit_id: str = "",
    ) -> str:
        """Correct memory as srv/EditObject does; return the id of the object that carries on, or of the new one."""

    def confirm_relocalization(self) -> None:
        """Trust the map frame again."""

    def forget(self, object_id: str) -> int:
        """Erase an object, history included; return how many objects went."""


@dataclass(frozen=True)
class CacheView:
    """The short-term memory at one moment: its units, those first that would go first, and its statistics by name."""

    units: tuple[CachedUnit, ...]
    figures: dict[str, float | str]


@dataclass(frozen=True)
class MemoryChange:
    """What one change of the scene graph touched, by ids.

    version, from_version: that it led to, and from. objects: those that changed, as they are now.
    """

    version: int
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    from_version: int = -1
    objects: tuple[SceneObject, ...] = ()


Listener = Callable[[MemoryChange], None]


class MemoryViews(Protocol):
    """Views of a memory besides its answers; None for a view that a memory does not have."""

    def crop_jpeg(self, object_id: str) -> bytes | None:
        """Return the best view of an object; None where none is kept."""

    def cache(self) -> CacheView | None:
        """Return the short-term memory; None before a running node has told it."""

    def episodes(self, newest: int) -> tuple[EpisodeSummary, ...] | None:
        """Return the newest episodes, the newest first."""

    def episode(self, episode_id: str) -> PastEpisode:
        """Return what is kept of an episode; nothing of one that nobody knows."""

    def lessons(self) -> tuple[Lesson, ...] | None:
        """Return the lessons that memory holds."""

    def places(self, object_id: str) -> tuple[Place, ...]:
        """Return where an object was before, the earliest first; "": where all objects were, as far as that is told.

        Raises:
            RobotMemoryError: there is no such object, or memory does not answer.
        """

    def statements(self, concept: str, k: int) -> tuple[Proposition, ...]:
        """Return the k statements that say most of a concept; "": that people told last, the newest first."""

    def figures(self) -> dict[str, float]:
        """Return the figures of /diagnostics by name."""

    def working_memory(self, episodes: Sequence[EpisodeSummary] | None) -> str | None:
        """Return the running episode's last steps in words; None where no episode runs.

        episodes: the newest, as `episodes` tells them.
        """

    def robot_path(self) -> tuple[tuple[int, float, float], ...]:
        """Return where the robot has been: stamp in ns, x and y in map, m, the newest last; empty where nothing tells
        it."""

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change, from any thread; what is returned ends that."""
