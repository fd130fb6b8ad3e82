"""What is asked of memory; nothing here changes what it believes."""

from __future__ import annotations

import threading

from memory_node.context.sections import GUIDELINES, Context, MemoryExcerpt, assemble
from memory_node.context.whereabouts import held_class, robot_room, room_relations
from memory_node.domain.answer import FindQuery, RankedArea, Recollection
from memory_node.domain.clock import Clock
from memory_node.domain.geometry import Pose
from memory_node.domain.scene import SceneSnapshot
from memory_node.experience.experience import Experience, ExperienceQuery
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.questions.long_term_search import LongTermSearch
from memory_node.scene_graph.graph import SceneGraph
from memory_node.search.unit_index import UnitIndex
from memory_node.short_term.object_cache import ObjectCache
from memory_node.store.durability import Durability


class Questions:
    """Thread-safe. What an answer tells has been made durable before it is told.

    lock: guards the scene graph. index: of the cache; its ranker ranks both memories.
    """

    def __init__(
        self,
        scene: SceneGraph,
        lock: threading.RLock,
        cache: ObjectCache,
        index: UnitIndex,
        experience: Experience,
        knowledge: KnowledgeGraph,
        durability: Durability,
        clock: Clock,
    ) -> None:
        self._scene = scene
        self._lock = lock
        self._cache = cache
        self._index = index
        self._search = LongTermSearch(scene, index.ranker, lock)
        self._experience = experience
        self._knowledge = knowledge
        self._durability = durability
        self._clock = clock

    def recall(self, query: FindQuery) -> Recollection:
        """Return what the short-term memory holds that fits; each call counts as one lookup."""
        query, within = self._search.restricted(query)
        verified = self._scene.frame_verified
        recollection = self._index.rank(query, self._clock(), frame_verified=verified, within=within)
        self._cache.count_lookup(recollection.best.object_id if recollection.best else "")
        self._durability.before_answer()
        return recollection

    def find(self, query: FindQuery) -> Recollection:
        """Return what the scene graph holds that fits."""
        recollection = self._search.find(query, self._clock())
        self._durability.before_answer()
        return recollection

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

    def scene_text(self, token_budget: int, topic: str = "") -> str:
        """Return the scene graph in words, the areas most relevant to `topic` first."""
        with self._lock:
            return self._scene.text_form(token_budget, topic=topic)

    def full_context(self, instruction: str, token_budget: int = 2000, episode_id: str = "") -> Context:
        """Return the context with the tokens of its sections; the guidelines in it count as given to the episode."""
        now_ns = self._clock()
        recalled = self._index.rank(FindQuery(text=instruction, k=8), now_ns)
        classes = tuple(dict.fromkeys(answer.object_class for answer in recalled.answers))
        with self._lock:
            room = robot_room(self._scene)
        learnt = self._experience.ask(ExperienceQuery(room=room, objects=classes, episode_id=episode_id))
        with self._lock:
            relations, held = room_relations(self._scene, learnt.room, classes), held_class(self._scene)
        if learnt.working_memory is not None:
            held = learnt.working_memory.held_object  # the steps know it first
        excerpt = MemoryExcerpt(
            learnt,
            facts=self._knowledge.about(classes),
            ways=self._knowledge.ways_to(instruction),
            room_relations=relations,
            recollection=recalled,
            # The graph's text orders its own areas; it gets what the other sections are not entitled to.
            home=self.scene_text(token_budget // 2, topic=instruction).splitlines(),
            robot=f"Robot: in {learnt.room or 'an unknown room'}, holding {held or 'nothing'}.",
            now_ns=now_ns,
        )
        context = assemble(excerpt.sections(), token_budget)
        # What the budget cut off was not given.
        self._experience.note_given(learnt.guidelines[: context.section_lines.get(GUIDELINES, 0)], episode_id)
        return context
