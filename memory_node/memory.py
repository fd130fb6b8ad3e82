"""`RobotMemory`: one interface to the whole memory: input, questions, upkeep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.compilations import Compilations, TaskRetrieval
from memory_node.context.config import CompilerConfig
from memory_node.context.context_writer import ContextWriter, held_object
from memory_node.context.recalled import Recalled
from memory_node.context.told_contexts import ToldContexts
from memory_node.domain.answer import AnswerStatus, FindQuery, Location, RankedArea, Recollection
from memory_node.domain.clock import Clock, local_day
from memory_node.domain.context import Memory
from memory_node.domain.geometry import Pose
from memory_node.domain.scene import HeldObject, SceneObject, SceneSnapshot
from memory_node.domain.step import Deed, EpisodeSummary
from memory_node.episodes.deed_log import DeedLog
from memory_node.intake.episodes import Episodes, KnownThings
from memory_node.intake.graph_changes import GraphChanges
from memory_node.intake.intake import Intake, take_over_learning
from memory_node.intake.short_term_mirror import ShortTermMirror, TaskObjects
from memory_node.knowledge.answering import KnowledgeAnswer
from memory_node.knowledge.answering import Mode as KnowledgeMode
from memory_node.knowledge.extraction import said_in_passing
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.kept_vectors import KeptVectors
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.told.binding import grounded
from memory_node.knowledge.told.telling import in_words
from memory_node.lessons.expectations import Expectations, expectations_of
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import Lesson
from memory_node.questions.going_on import going_on
from memory_node.questions.household import household_answer
from memory_node.questions.locate import LongTermSearch, locate
from memory_node.questions.past_episodes import PastEpisodes
from memory_node.scene_graph.edits import UndoBook
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.place_habits import PlaceCensus, PlaceWatch
from memory_node.search.unit_index import SHORT_TERM, UnitIndex
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.state_estimation import StateEstimationQueue
from memory_node.short_term.units import StateClaim
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.store import Store
from memory_node.upkeep import Upkeep

TakeClaims = Callable[[str, Sequence[StateClaim]], None]


# Episodes among which an unfinished one is looked for.
_LATEST_EPISODES = 20
# Episodes in whose instructions more may have been said.
_SAID_EPISODES = 200
# Longest waits for the facts behind an answer to become durable; the shorter one during an outage (s).
_ANSWER_WAIT_S, _OUTAGE_WAIT_S = 2.0, 0.1
# So long after a question what somebody says may be the answer.
_ANSWERED_NS = 900 * 10**9


class RobotMemory:
    """A `MemoryPort`; thread-safe. The facts behind an answer are durable before it is given.

    Args:
        scene: the long-term scene graph.
        cache: the short-term memory.
        index: follows the cache; its ranker answers for both memories.
        store: makes it durable; None keeps everything in this process only (benchmarks, dry runs).
        experience: what was learnt from episodes.
        knowledge: propositions.
        clock: "now", on the same time line as the stamps of frames and changes.
        judge_states: opens what judges object states by pictures, given what takes its claims; it may give None:
            skill effects alone.
        compiler: how memory is compiled at each step of an episode.
        kept: writes the file that the next start reads the vectors of knowledge from.
        kinds: the label space.
        deeds: what the robot did with which thing.
        unread: memories that are written as ever and tell nothing, to measure what they are worth.

    Attributes:
        cache, experience, knowledge: as given.
        episodes: an `ExperiencePort`, what a planner is asked and told while it carries out an instruction.
        guidance: compiles memory for the running episodes, step by step.
        past: what happened in earlier episodes.
        deeds: what was done with which thing.
        observe, correct_poses, set_map, remember, claim_states, take_over_changes: see Intake.
        edit, confirm_relocalization, save, keep_knowledge: see Upkeep.
        on_change, statistics, context: see GraphChanges.listen, ObjectCache, ContextWriter.write.
    """

    def __init__(
        self,
        scene: SceneGraph,
        cache: ObjectCache,
        index: UnitIndex,
        store: Store | None,
        experience: Experience,
        knowledge: KnowledgeGraph,
        clock: Clock,
        judge_states: Callable[[TakeClaims], StateEstimationQueue | None],
        compiler: CompilerConfig,
        kept: KeptVectors | None,
        kinds: ObjectCatalogue,
        deeds: DeedLog,
        unread: Collection[Memory],
    ) -> None:
        self.cache, self.experience, self.knowledge, self._clock = cache, experience, knowledge, clock
        self._unread = frozenset(unread)
        self._kinds, self.deeds = kinds, deeds
        self._store = store
        task_objects = TaskObjects(index.ranker.classes_named, lambda classes: cache.pin(object_classes=classes))
        states = judge_states(lambda *claim: self._intake.claim_states(*claim))
        mirror = ShortTermMirror(scene, cache, index.ranker, task_objects, states)
        self._changes = GraphChanges(scene, mirror, store, index.gathered)
        learn = partial(take_over_learning, experience=experience, knowledge=knowledge)
        self._watch = PlaceWatch(scene)
        self._changes.listen(lambda events, _from_version, _to_version: self._watch.note(events))
        undo = UndoBook(scene.state, scene.places)
        self._intake = Intake(scene, self._changes, mirror, store, learn, clock, undo)
        lock = self._changes.lock
        self._told = told = ToldContexts(clock)
        made_from: tuple[tuple[Deed, ...], tuple[Proposition, ...]] = ((), ())
        self._expected = made_from, Expectations((), knowledge.zone)
        self.episodes = Episodes(experience, scene, lock, self._intake.remember, task_objects, told, clock, self.deeds)
        named = index.ranker.classes_named
        contexts = ContextWriter(
            scene,
            lock,
            index.rank,
            experience,
            knowledge,
            told,
            clock,
            self._kinds,
            expected=self._expectations,
            deeds=self.deeds.all,
            named=named,
        )
        self._scene, self._lock, self._index = scene, lock, index
        self._search = LongTermSearch(scene, index.ranker, lock)
        retrieval = TaskRetrieval(
            experience,
            self.rank_search_areas,
            contexts.tries,
            contexts.needed,
        )
        self.guidance = Compilations(
            experience, retrieval, KnownThings(scene, lock, compiler.close_m), self.held_object, compiler, self._kinds
        )
        self._upkeep = Upkeep(
            scene, self._changes, mirror, cache, store, experience, knowledge, clock, states, undo, kept, self.deeds
        )
        self.past = PastEpisodes(store, experience, self.guidance, told)
        # What one part does alone is asked of it: no method here stands between.
        self.on_change, self.statistics = self._changes.listen, cache.statistics
        self.observe, self.correct_poses = self._intake.observe, self._intake.correct_poses
        self.set_map, self.remember = self._intake.set_map, self._intake.remember
        self.claim_states = self._intake.claim_states
        self.take_over_changes, self.context = self._intake.take_over_changes, contexts.write
        self.edit, self.confirm_relocalization = self._upkeep.edit, self._upkeep.confirm_relocalization
        self.save, self.keep_knowledge = self._upkeep.save, self._upkeep.keep_knowledge
        if len(scene):
            scene.doubt_frame()
            mirror.take_back(self.deeds.all(), clock())

    # --- what comes in ---------------------------------------------------------------------------

    def tell_fact(self, text: str, teller: str = "", stamp_ns: int = 0) -> tuple[Proposition, ...]:
        """Take over a fact that a person told, of now by default; return its statements once they are durable."""
        scene = self.scene()
        told = self.knowledge.tell(
            text, teller, stamp_ns or self._clock(), lambda fact: grounded(fact, scene, self._kinds)
        )
        self.commit()
        return told

    def retract_fact(self, text: str, back: bool = False) -> None:
        """Let a statement count no longer, or again; see KnowledgeGraph.retract. Returns once that is durable."""
        self.knowledge.retract(text, back)
        self.commit()

    def delete_document(self, document: str, back: bool = False) -> None:
        """Delete what is known from a document alone, or bring it back; see KnowledgeGraph.delete_document."""
        self.knowledge.delete_document(document, back)
        self.commit()

    def tell_in_words(self, text: str) -> str:
        """Take over a fact that was said to the planner; return what became of it, for the one who said it."""
        return in_words(self.tell_fact(text), self.knowledge.facts())

    def read(self, steps: Iterable[StandardStep]) -> int:
        """Take over a part of a document or talk; return how many statements were new. Committed as other facts are."""
        return self.knowledge.add(steps)

    # --- what is asked ---------------------------------------------------------------------------

    def recall(self, query: FindQuery) -> Recollection:
        """Return what the short-term memory holds that fits; each call counts as one lookup."""
        recollection = self._recalled(query)
        self.cache.count_lookup(recollection.best.object_id if recollection.best else "")
        self._settle()
        return recollection

    def _recalled(self, query: FindQuery) -> Recollection:
        query, within = self._search.restricted(query)
        return self._index.rank(query, self._clock(), frame_verified=self._scene.frame_verified, within=within)

    def find(self, query: FindQuery) -> Recollection:
        """Return what the scene graph holds that fits."""
        recollection = self._search.find(query, self._clock())
        self._settle()
        return recollection

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Return where a thing is by either memory, or where to look for it; counts as one lookup."""

        def find(query: FindQuery) -> Recollection:
            return self._search.find(query, self._clock())

        location = locate(query, self._recalled, find, self.rank_search_areas, max_areas)
        if not query.as_of_ns:
            location = replace(location, answers=self._search.in_order(location.answers))
        answered = location.status is AnswerStatus.OK and location.memory == SHORT_TERM
        self.cache.count_lookup(location.answers[0].object_id if answered else "")
        self._settle()
        return location

    def ask(self, question: str, mode: KnowledgeMode | None = None, k: int = 0, as_of_ns: int = 0) -> KnowledgeAnswer:
        """Return what is known, by the scene, by deeds, by people and by what was read; see household_answer.

        mode: of the statements alone, as KnowledgeGraph.ask searches them; None: found out from the question. as_of_ns:
        answers as memory would have then, 0 for now.
        """
        if mode is not None:
            answer = self.knowledge.ask(question, mode, k, as_of_ns)
        else:
            answer = self._answered(question, k, as_of_ns)
        self._settle()
        return answer

    def _answered(self, question: str, k: int, as_of_ns: int) -> KnowledgeAnswer:
        recalled = self.recall_past()
        facts, deeds = recalled.facts, recalled.deeds
        if as_of_ns:
            facts = tuple(one for one in facts if one.counted_in(0, as_of_ns + 1))
            deeds = tuple(one for one in deeds if one.stamp_ns <= as_of_ns)

        def unread() -> list[str]:
            return [one.text for one in self.knowledge.told_facts(question) if not one.structure]

        answer = household_answer(
            question,
            self._kinds,
            lambda stamp_ns: self.scene(stamp_ns or as_of_ns, removed=not (stamp_ns or as_of_ns)),
            facts,
            deeds,
            lambda text: self.knowledge.ask(text, None, k, as_of_ns),
            as_of_ns or self._clock(),
            self.knowledge.zone,
            None if as_of_ns or Memory.LESSONS in self._unread else lambda *call: self._expectations().way(*call),
            recalled.asked,
            tuple if as_of_ns else unread,
        )
        if not answer.read:
            return answer
        said = {fact.text for fact in answer.read}
        told = [one for one in self.knowledge.structured(ended=True) if any(fact.text in said for fact in one.facts)]
        return replace(answer, propositions=tuple(told))

    def recall_past(self) -> Recalled:
        """Return what a reader of plain sentences needs: told facts, deeds, unfinished instructions."""
        self._settle()  # episodes are read from the store
        deeds = self.deeds.all()
        unfinished = self._unfinished(deeds)
        if Memory.EPISODES in self._unread:
            deeds = tuple(deed for deed in deeds if deed.episode_id in {episode.id for episode in unfinished})
        facts, zone = tuple(self.knowledge.facts_ever()), self.knowledge.zone
        latest = self.past.episodes(_SAID_EPISODES)
        acted = {deed.episode_id for deed in deeds}
        asked = {one.id: one.instruction for one in latest if one.id in acted}
        said = () if Memory.FACTS in self._unread else _said_in_passing(latest)
        newest = next((one for one in latest if one.ended_ns), None)
        is_recent = newest is not None and self._clock() - newest.ended_ns <= _ANSWERED_NS
        waits = newest is not None and is_recent and newest.success is None and newest.id not in asked
        waiting = newest.instruction if newest is not None and waits else ""
        return Recalled(facts, deeds, unfinished, said, zone, asked, Memory.EPISODES not in self._unread, waiting)

    def _expectations(self) -> Expectations:
        if Memory.LESSONS in self._unread:
            return Expectations(())
        made_from = tried, told = self.deeds.teaching(), tuple(self.knowledge.structured())
        known, expected = self._expected  # one value: threads ask at once
        if made_from != known:
            facts = [fact for one in told for fact in one.facts]
            expected = expectations_of(tried, facts, self._kinds, self.scene, self._clock(), self.knowledge.zone)
            self._expected = made_from, expected
        return expected

    def lessons(self) -> tuple[Lesson, ...]:
        """Return every lesson that holds; first what tries teach now: calls that fail at a place, and what makes
        them work."""
        return (*self._expectations().lessons(self._clock()), *self.experience.lessons())

    def _unfinished(self, deeds: Sequence[Deed]) -> tuple[EpisodeSummary, ...]:
        """Return the last instructions that were begun and did not succeed, the newest first.

        What was gone on with to its end is none of them, and of those before it only what was broken off the same day.
        """
        acted = {deed.episode_id for deed in deeds if not deed.reason}
        found: list[EpisodeSummary] = []
        resumed, day = 0, None  # so many of the next ones were gone on with; on which day
        finished = ""
        for episode in self.past.episodes(_LATEST_EPISODES):
            # Who only asked, or was asked back, has begun nothing.
            if not episode.ended_ns or not (episode.task_type or episode.id in acted):
                continue
            begun_on = local_day(episode.started_ns, self.knowledge.zone)
            if episode.success:
                if going_on(episode.instruction):
                    resumed, day = resumed + 1, begun_on
            elif day is not None and begun_on != day:
                break
            elif resumed or episode.instruction == finished:  # an earlier attempt, too
                if not going_on(episode.instruction) and episode.instruction != finished:
                    resumed, finished = resumed - 1, episode.instruction
            else:
                found.append(episode)
        return tuple(found)

    def told_facts(self, instruction: str) -> tuple[str, ...]:
        """Return what people told that shares a name or thing with an instruction, the newest first."""
        return tuple(one.text for one in self.told_statements(instruction))

    def told_statements(self, instruction: str, k: int = 0) -> tuple[Proposition, ...]:
        """Return it as statements, at most k, but for what is over by now; of no instruction: all, those too."""
        named = self._kinds.spoken_names.named_in(instruction.lower())
        # "The TV" is told of where the television is named.
        called = (called for names in named for name in names[:1] for called in self._kinds[name].names)
        told = self.knowledge.told_facts(" . ".join([instruction, *called]) if named else instruction, k)
        now_ns = self._clock()
        return tuple(one for one in told if not (instruction.strip() and one.is_over(now_ns)))

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Return where an object of the class is likely, best first; k = 0 gives all."""
        with self._lock:
            return self._scene.rank_search_areas(object_class, k, self._clock())

    def scene(self, as_of_ns: int = 0, removed: bool = False) -> SceneSnapshot:
        """Return the whole scene graph, now or as of a stamp; `removed`: with objects kept for their history."""
        with self._lock:
            snapshot = self._scene.snapshot(as_of_ns, removed)
        self._settle()
        return snapshot

    def one_object(self, object_id: str) -> SceneObject:
        """Return one object, with its earlier places; removed ones included.

        Raises:
            NotFoundError: no object has this id.
        """
        with self._lock:
            found = self._scene.object(object_id)
        self._settle()
        return found

    def scene_of_one(self, object_id: str, as_of_ns: int = 0) -> SceneSnapshot:
        """Return one object alone, now (removed or not) or as of a stamp; see SceneGraph.snapshot_of_one."""
        with self._lock:
            snapshot = self._scene.snapshot_of_one(object_id, as_of_ns)
        self._settle()
        return snapshot

    def scene_text(self, token_budget: int) -> str:
        """Return the scene graph in words, the areas nearest to the robot first."""
        with self._lock:
            return "\n".join(self._scene.in_words(token_budget).lines)

    def held_object(self) -> HeldObject | None:
        """Return what the hand holds, None when it is empty."""
        with self._lock:
            return held_object(self._scene)

    def keyframes(self) -> dict[str, Pose]:
        """Return map_T_keyframe by name, of the keyframes that things were seen from."""
        with self._lock:
            return self._scene.keyframes()

    def place_census(self) -> PlaceCensus:
        """Return what this home has taught since start-up about where things of a kind usually are."""
        with self._lock:
            return self._watch.census()

    @property
    def version(self) -> int:
        """A number that grows with every change of the scene graph."""
        return self._scene.version

    def hash(self) -> str:
        """Return a hash of everything that the scene graph believes: equal for equal replays."""
        with self._lock:
            return self._scene.hash()

    # --- upkeep ----------------------------------------------------------------------------------

    def forget(
        self, object_id: str = "", area_id: str = "", object_class: str = "", begin_ns: int = 0, end_ns: int = 0
    ) -> int:
        """Erase objects that all given conditions fit, history included, on disk too; see Upkeep.forget.

        Contexts that were told go, too.
        """
        self._told.forget()
        return self._upkeep.forget(object_id, area_id, object_class, begin_ns, end_ns)

    def commit(self, timeout_s: float = 5.0) -> None:
        """Return once all that memory was told is durable.

        Raises:
            StoreUnavailableError: neither the database nor its journal takes it now; memory holds it all the same.
        """
        if self._store is not None:
            self._store.flush(timeout_s)

    def _settle(self) -> None:
        """Make the facts behind an answer durable; the answer is given also when the database accepts nothing."""
        if self._store is not None:
            wait_s = _ANSWER_WAIT_S if self._store.diagnostics().state == "ok" else _OUTAGE_WAIT_S
            with suppress(StoreUnavailableError):  # diagnostics tell of it
                self._store.flush(wait_s)

    def diagnostics(self) -> dict[str, object]:
        """Return figures for /diagnostics."""
        refused = {"store.refused_frames": self._intake.refused_frames} if self._store is not None else {}
        return {**self._upkeep.diagnostics(), **refused}

    def close(self) -> None:
        """Finish what is being learnt, make everything durable, and let go of the store; again does nothing."""
        self._upkeep.close()


def _said_in_passing(episodes: Sequence[EpisodeSummary]) -> tuple[str, ...]:
    """Return the instructions that say more than what was to be done, the newest last. episodes: the newest first."""
    told = (one.instruction for one in reversed(episodes) if said_in_passing(one) is not None)
    return tuple(dict.fromkeys(told))
