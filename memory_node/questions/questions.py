"""What is asked of memory; nothing here changes what it believes."""

from __future__ import annotations

import threading
from collections.abc import Collection

from memory_node.context.context_writer import ContextWriter
from memory_node.context.whereabouts import held_object
from memory_node.domain.answer import AnswerStatus, FindQuery, Location, RankedArea, Recollection
from memory_node.domain.clock import Clock
from memory_node.domain.context import Context, ContextSource
from memory_node.domain.geometry import Pose
from memory_node.domain.held_object import HeldObject
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.questions.locate import locate
from memory_node.questions.long_term_search import LongTermSearch
from memory_node.scene_graph.graph import SceneGraph
from memory_node.search.unit_index import SHORT_TERM, UnitIndex
from memory_node.short_term.object_cache import ObjectCache
from memory_node.store.durability import Durability


class Questions:
    """Thread-safe. What an answer tells has been made durable before it is told.

    lock: guards the scene graph. index: of the cache; its ranker ranks both memories. contexts: writes what a planner
    is told.
    """

    def __init__(
        self,
        scene: SceneGraph,
        lock: threading.RLock,
        cache: ObjectCache,
        index: UnitIndex,
        contexts: ContextWriter,
        durability: Durability,
        clock: Clock,
    ) -> None:
        self._scene = scene
        self._lock = lock
        self._cache = cache
        self._index = index
        self._contexts = contexts
        self._search = LongTermSearch(scene, index.ranker, lock)
        self._durability = durability
        self._clock = clock

    def recall(self, query: FindQuery) -> Recollection:
        """Return what the short-term memory holds that fits; each call counts as one lookup."""
        recollection = self._recalled(query)
        self._cache.count_lookup(recollection.best.object_id if recollection.best else "")
        self._durability.before_answer()
        return recollection

    def find(self, query: FindQuery) -> Recollection:
        """Return what the scene graph holds that fits."""
        recollection = self._search.find(query, self._clock())
        self._durability.before_answer()
        return recollection

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Return where a thing is by either memory, or where to look for it; counts as one lookup."""

        def find(query: FindQuery) -> Recollection:
            return self._search.find(query, self._clock())

        location = locate(query, self._recalled, find, self.rank_search_areas, max_areas)
        answered = location.status is AnswerStatus.OK and location.memory == SHORT_TERM
        self._cache.count_lookup(location.answers[0].object_id if answered else "")
        self._durability.before_answer()
        return location

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Return where an object of the class is likely, best first."""
        with self._lock:
            return self._scene.rank_search_areas(object_class, k, self._clock())

    @property
    def version(self) -> int:
        """A number that grows with every change of the scene graph."""
        return self._scene.version

    def hash(self) -> str:
        """Return a hash of everything that the scene graph believes: equal for equal replays."""
        with self._lock:
            return self._scene.hash()

    def keyframes(self) -> dict[str, Pose]:
        """Return map_T_keyframe by name, of the keyframes that things were seen from."""
        with self._lock:
            return self._scene.keyframes()

    def scene(self, as_of_ns: int = 0, removed: bool = False) -> SceneSnapshot:
        """Return the whole scene graph, now or as of a stamp; `removed`: with objects kept for their history."""
        with self._lock:
            snapshot = self._scene.snapshot(as_of_ns, removed)
        self._durability.before_answer()
        return snapshot

    def one_object(self, object_id: str) -> SceneObject:
        """Return one object, with its earlier places; removed ones included.

        Raises:
            NotFoundError: no object has this id.
        """
        with self._lock:
            found = self._scene.object(object_id)
        self._durability.before_answer()
        return found

    def scene_of_one(self, object_id: str) -> SceneSnapshot:
        """Return a snapshot with one object alone, removed or not; with none where nothing has this id."""
        with self._lock:
            snapshot = self._scene.snapshot_of_one(object_id)
        self._durability.before_answer()
        return snapshot

    def scene_text(self, token_budget: int, topic: str = "") -> str:
        """Return the scene graph in words, the areas most relevant to `topic` first."""
        with self._lock:
            return self._scene.text_form(token_budget, topic=topic)

    def context(
        self, instruction: str, token_budget: int, episode_id: str, sources: Collection[ContextSource]
    ) -> Context:
        """Return what a planner should know of memory for this instruction; see ContextWriter.write."""
        return self._contexts.write(instruction, token_budget, episode_id, sources)

    def held_object(self) -> HeldObject | None:
        """Return what the hand holds, None when it is empty."""
        with self._lock:
            return held_object(self._scene)

    def _recalled(self, query: FindQuery) -> Recollection:
        query, within = self._search.restricted(query)
        verified = self._scene.frame_verified
        return self._index.rank(query, self._clock(), frame_verified=verified, within=within)
