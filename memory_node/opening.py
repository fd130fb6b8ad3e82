"""Builds a `RobotMemory` from its configuration, with what the store remembers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock, system_clock, time_zone
from memory_node.domain.context import Memory
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneSnapshot
from memory_node.domain.step import Deed, EpisodeSummary, StepRecord
from memory_node.episodes.deed_log import DEEDS, DeedLog
from memory_node.episodes.episode_register import ENDED_KEPT
from memory_node.episodes.past_attempt import ATTEMPTS, PastAttempt
from memory_node.knowledge.by_model import ModelJudge, ModelTellingReader
from memory_node.knowledge.facts import proposition_from_dict
from memory_node.knowledge.kept_vectors import KeptVectors
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_nodes import PROPOSITIONS, STEPS, Source
from memory_node.knowledge.standard_step import TOLD, step_from_dict
from memory_node.knowledge.told.forms import TellingReader
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.episode_reader import ModelEpisodeReader
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import LESSONS, ExperienceLog, Lesson
from memory_node.lessons.optimizer.curator import open_curator
from memory_node.lessons.plugmem import in_words
from memory_node.llm.open_model import ModelShelf
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.place_habits import PLACE_CENSUS, PlaceCensus, PlaceHabits
from memory_node.scene_graph.state import StampIds
from memory_node.search.embedders import CachingEmbedder, build_embedder, build_picture_embedder
from memory_node.search.glosses import ClassGlosses
from memory_node.search.ranker import Ranker
from memory_node.search.unit_index import UnitIndex
from memory_node.short_term.object_cache import ObjectCache
from memory_node.short_term.policies import MakePolicy, build_policy
from memory_node.short_term.state_estimation import open_state_queue
from memory_node.store.location import is_in_process
from memory_node.store.reader import without_collection
from memory_node.store.store import Store, open_store
from memory_node.world.state import THING_NAMES

# By kind of document, what raises an error of a stored body that its owner cannot read.
_BODY_CHECKS: dict[str, Callable[[dict[str, Any]], object]] = {
    ATTEMPTS: PastAttempt.from_dict,
    LESSONS: Lesson.from_dict,
    PLACE_CENSUS: PlaceCensus.from_dict,
    PROPOSITIONS: proposition_from_dict,
    STEPS: step_from_dict,
    DEEDS: Deed.from_dict,
}


def open_memory(
    config: MemoryConfig | str | os.PathLike[str] | None = None,
    clock: Clock = system_clock,
    embedder: TextEmbedder | None = None,
    experience: Experience | None = None,
    catalogue: ObjectCatalogue | None = None,
    habits: PlaceHabits | None = None,
    embed_in_background: bool = True,
    unread: Collection[Memory] = (),
    make_policy: MakePolicy = build_policy,
) -> RobotMemory:
    """Return a memory that goes on from what its store holds.

    config: a path is the database of an otherwise default configuration; without any, nothing is kept.
    embedder: by default the one of `config.search`. experience: one that a robot has brought along from another site,
    instead of one of this memory's own. catalogue: by default the one that `config.label_space` names.
    habits: where things usually are at other sites; by default what censuses the store holds, without any of them only
    this site tells where to look. embed_in_background: make what was loaded without vectors findable by meaning.
    unread: memories that are written as ever and tell nothing, to measure what they are worth. make_policy: replaces
    in the short-term memory, by default the policy of the config.

    Raises:
        StoreError: the database cannot be used.
        ResourceMissingError: the embedder's model has not been built, or there is no such label space.
        InvalidValueError: the label space says something that cannot be.
    """
    if isinstance(config, str | os.PathLike):
        config = MemoryConfig(database=os.fspath(config))
    config = config or MemoryConfig()
    zone = time_zone(config.time_zone)
    catalogue = catalogue or load_catalogue(config.label_space)
    embedder = CachingEmbedder(embedder or build_embedder(config.search))
    store = _open_store(config, clock)
    short_term = config.short_term
    if store is not None and not short_term.crop_folder:
        short_term = short_term.changed(crop_folder=str(store.crops))
    log, models = StoreLog(store if config.experience.learning else None), ModelShelf()
    kept = None if store is None else KeptVectors(store.derived / "knowledge.vectors", embedder)
    on_removal = kept.drop if kept is not None else None
    forms = TellingReader(catalogue, zone)
    telling: TellingReader | ModelTellingReader = forms
    llm = config.knowledge.llm
    model = models.open_or_excuse(llm) if config.knowledge.reader == "model" else None
    if model is not None:
        telling = ModelTellingReader(
            model,
            forms,
            lambda said: [one.text for one in knowledge.told_facts(said)],
            zone,
            llm.timeout_s,
            llm.max_repairs,
        )
    knowledge = KnowledgeGraph(
        embedder,
        StoreLog(store),
        config.knowledge,
        on_removal=on_removal,
        read_facts=lambda said, step: (
            (
                telling.read(said, step.stamp_ns, step.subject, "" if step.state == TOLD else step.session, step.index)
            ).facts
        ),
        unread=unread,
        zone=zone,
        judge_left=ModelJudge(model, llm.timeout_s, llm.max_repairs) if model is not None else None,
        ways_to=lambda question: [in_words(way, question, catalogue) for way in learnt.ways_to(question)],
    )
    reader = None
    if model is not None:
        knowledge.answer_by(model)
        reader = ModelEpisodeReader(
            model,
            lambda said, stamp_ns: telling.read(said, stamp_ns).facts,
            knowledge.take_over,
            llm.timeout_s,
            llm.max_repairs,
        )
    learnt = experience or Experience(
        _without(unread, config.experience),
        log,
        clock,
        kinds=catalogue,
        curator=open_curator(config.optimizer, embedder, catalogue, models, log),
        on_ended=knowledge.learn,
        embedder=embedder,
        reader=reader,
    )
    stored, last_names = SceneSnapshot(0), dict[str, int]()
    deeds = DeedLog(log, config.experience.learning)
    if store is not None and kept is not None:
        stored = store.load_scene()
        last_names = {one.id: int(one.body["last"]) for one in store.bodies([THING_NAMES])}
        with without_collection():  # it would look through all statements many times
            knowledge.load(_bodies(store, PROPOSITIONS), _bodies(store, STEPS))
            kept.load(knowledge)
        if embed_in_background:
            knowledge.embed_in_background()
        own = store.episodes(ENDED_KEPT, own=True)
        learnt.load(_bodies(store, ATTEMPTS), map(Lesson.from_dict, _bodies(store, LESSONS)), own)
        learnt.load_episodes(_steps_by_episode(store))
        deeds.load(_bodies(store, DEEDS))
    ids = stamp_ids(config.robot_id, stored)
    scene = SceneGraph.from_snapshot(stored, config.scene_graph, ids, embedder, catalogue, last_names)
    _keep_new_names(scene, store, stored)
    scene.habits = habits or _stored_habits(store, catalogue)
    ranker = Ranker(embedder, ClassGlosses.of(catalogue), config.search, build_picture_embedder(config.search))
    index = UnitIndex(ranker, is_read=Memory.SHORT_TERM not in unread)
    cache = ObjectCache(short_term, index.follow, make_policy)
    return RobotMemory(
        scene,
        cache,
        index,
        store,
        learnt,
        knowledge,
        clock,
        judge_states=lambda claim: open_state_queue(short_term, models, claim),
        compiler=config.compiler,
        kept=kept,
        kinds=catalogue,
        deeds=deeds,
        unread=unread,
    )


def _without(unread: Collection[Memory], config: ExperienceConfig) -> ExperienceConfig:
    """Return what answers of experience. Lessons: all that is counted over episodes; episodes: their own records."""
    if Memory.EPISODES in unread:
        config = config.changed(graphs=config.graphs - {"trajectories"})
    if Memory.LESSONS in unread:
        kept = config.graphs & {"trajectories"}
        config = config.changed(parts=config.parts - {"semantic"}, graphs=kept)
    return config


def stamp_ids(robot_id: str, stored: SceneSnapshot) -> StampIds:
    """Return a source of ids that a replay reproduces; its seed contains the stored ids, so new ones are unique."""
    nodes = (stored.objects, stored.areas, stored.rooms)
    known = sorted(one.id for kind in nodes for one in kind)
    return StampIds(f"{robot_id}/{hashlib.blake2b(' '.join(known).encode(), digest_size=8).hexdigest()}")


def _open_store(config: MemoryConfig, clock: Clock) -> Store | None:
    if is_in_process(config.database):
        return None
    store = open_store(config.database, config.robot_id, config.site, config.store, clock)
    store.check_bodies(_BODY_CHECKS)
    return store


def _keep_new_names(scene: SceneGraph, store: Store | None, stored: SceneSnapshot) -> None:
    """Keep the names that a scene of a release without names was given, so that they stay."""
    nameless = [found.id for found in stored.objects if not found.name]
    if store is None or not nameless:
        return
    last = scene.state.table.names.take_given()
    store.append(SceneEvent(SceneEventKind.UPDATED, scene.state.now_ns, scene.object(one)) for one in nameless)
    store.put_documents(THING_NAMES, [(word, {"last": number}, ()) for word, number in last.items()])


def _stored_habits(store: Store | None, catalogue: ObjectCatalogue) -> PlaceHabits | None:
    censuses = [] if store is None else _bodies(store, PLACE_CENSUS)
    if not censuses:
        return None
    habits = PlaceHabits(catalogue)
    habits.add(PlaceCensus.together(map(PlaceCensus.from_dict, censuses)))
    return habits


def _steps_by_episode(store: Store) -> Iterator[tuple[str, list[StepRecord]]]:
    """Yield the stored episodes one by one: ids sort by time, and a million steps at once would need a gigabyte."""
    for episode_id, steps in groupby(store.steps(), lambda step: step.episode_id):
        yield episode_id, list(steps)


def _bodies(store: Store, kind: str) -> list[dict[str, Any]]:
    return [dict(document.body) for document in store.bodies([kind])]


class StoreLog(ExperienceLog):
    """The log of experience and of knowledge in the store; without a store it keeps nothing."""

    def __init__(self, store: Store | None) -> None:
        self._store = store

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep an episode as it stands now."""
        if self._store is not None:
            self._store.append([episode])

    def put_step(self, step: StepRecord) -> None:
        """Keep a step."""
        if self._store is not None:
            self._store.append([step])

    def put_documents(
        self, kind: str, documents: Sequence[tuple[str, Mapping[str, Any], Sequence[str | Source]]]
    ) -> None:
        """Keep documents, each with what supports it: episodes by their ids, other sources as (kind, id)."""
        if self._store is not None and documents:
            named = (
                (key, body, [("episode", one) if isinstance(one, str) else one for one in sources])
                for key, body, sources in documents
            )
            self._store.put_documents(kind, named)

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Give documents up."""
        if self._store is not None and ids:
            self._store.remove_documents(kind, ids)
