"""Scenarios in which one memory holds what it held in the next scenario of the same category."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.life.day_file import Day
from benchmarks.life.day_run import DayReport, DayRun
from benchmarks.life.lives import Lives
from benchmarks.life.player import Player, RobotPlayer
from benchmarks.life.robot_life import RobotLife, memory_config
from benchmarks.life.switches import COMPILER, EPISODES, FACTS, LESSONS, SCENE, SHORT_TERM, WORKING
from memory_node.context.compilations import Retrieve
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneSnapshot
from memory_node.domain.step import Deed, EpisodeSummary, StepRecord
from memory_node.episodes.deed_log import DEEDS
from memory_node.episodes.past_attempt import ATTEMPTS
from memory_node.knowledge.knowledge_nodes import PROPOSITIONS, STEPS
from memory_node.lessons.lesson import LESSONS as WRITTEN
from memory_node.scene_graph.place_habits import PLACE_CENSUS
from memory_node.store.records import Document
from memory_node.store.store import Store, open_store

_MEMORY_OF = {
    ATTEMPTS: EPISODES,
    DEEDS: EPISODES,
    WRITTEN: LESSONS,
    STEPS: FACTS,
    PLACE_CENSUS: SCENE,
}
_KINDS = (*_MEMORY_OF, PROPOSITIONS)
_FROM_EPISODES = frozenset({"step", "episode"})
_FLUSH_S = 60.0


@dataclass(frozen=True)
class Contents:
    """scene: with what the graph holds; units: of the short-term memory; session: the conversation's file, "" for none;
    now_ns: when it was so; unfinished: the instructions that were begun and did not succeed, the newest first."""

    scene: SceneSnapshot
    episodes: tuple[EpisodeSummary, ...]
    steps: tuple[StepRecord, ...]
    documents: tuple[Document, ...]
    units: tuple[MemoryUnit, ...]
    session: str
    now_ns: int
    unfinished: tuple[EpisodeSummary, ...] = ()


def read_contents(folder: Path, units: Sequence[MemoryUnit], session: str, now_ns: int) -> Contents:
    """Return what the store of a closed memory holds, with what only a running one does."""
    store = _opened(folder, now_ns)
    try:
        return Contents(
            store.load_scene(),
            tuple(store.episodes()),
            tuple(store.steps()),
            tuple(document for kind in _KINDS for document in store.documents(kind)),
            tuple(units),
            session,
            now_ns,
        )
    finally:
        store.close()


def write_contents(contents: Contents, folder: Path) -> None:
    """Make a store that holds them."""
    store = _opened(folder, contents.now_ns)
    try:
        scene = contents.scene
        store.put_map(scene.areas, scene.rooms, scene.floors, scene.relations)
        store.append([SceneEvent(SceneEventKind.APPEARED, scene.stamp_ns, found) for found in scene.objects])
        store.append([*contents.episodes, *contents.steps])
        for kind in _KINDS:
            documents = [(one.id, one.body, one.sources) for one in contents.documents if one.kind == kind]
            if documents:
                store.put_documents(kind, documents)
        store.flush(_FLUSH_S)
    finally:
        store.close()


def tries_in(own: Contents, other: Contents) -> tuple[Deed, ...]:
    """Return what another robot has tried, the newest last, about things of one's own; see with_memory_of."""
    other = _renamed(other, _ids_by_number(other.scene, own.scene))
    tries = (Deed.from_dict(dict(one.body)) for one in other.documents if one.kind == DEEDS)
    return tuple(sorted(tries, key=lambda deed: deed.stamp_ns))


def with_memory_of(own: Contents, other: Contents, memory: str) -> Contents:
    """Return a robot's contents but for one memory, which holds what another's does, about things of its own.

    Things are mapped by class and number.
    """
    other = _renamed(other, _ids_by_number(other.scene, own.scene))
    if memory == SCENE:
        scene = replace(own.scene, objects=other.scene.objects)
        return replace(own, scene=scene, documents=_documents(own, other, memory))
    if memory == SHORT_TERM:
        return replace(own, units=other.units)
    if memory == EPISODES:
        own = replace(own, episodes=other.episodes, steps=other.steps)
    return replace(own, documents=_documents(own, other, memory))


def _documents(own: Contents, other: Contents, memory: str) -> tuple[Document, ...]:
    kept = tuple(one for one in own.documents if _memory_of(one) != memory)
    return kept + tuple(one for one in other.documents if _memory_of(one) == memory)


def _memory_of(document: Document) -> str:
    if document.kind != PROPOSITIONS:
        return _MEMORY_OF[document.kind]
    return LESSONS if _FROM_EPISODES & {kind for kind, _ in document.sources} else FACTS


def _ids_by_number(scene: SceneSnapshot, meant: SceneSnapshot) -> dict[str, str]:
    """Return for each thing of a scene the id of the thing of its class and number in another."""
    ids = {key: object_id for object_id, key in _numbers(meant).items()}
    return {object_id: ids[key] for object_id, key in _numbers(scene).items() if key in ids}


def _numbers(scene: SceneSnapshot) -> dict[str, tuple[str, int]]:
    counts: Counter[str] = Counter()
    numbers = {}
    for found in sorted(scene.objects, key=lambda one: (one.first_seen_ns, one.id)):
        counts[found.class_name] += 1
        numbers[found.id] = (found.class_name, counts[found.class_name])
    return numbers


def _renamed(contents: Contents, ids: Mapping[str, str]) -> Contents:
    def name(object_id: str) -> str:
        return ids.get(object_id, object_id)

    def in_text(text: str) -> str:
        for old, new in ids.items():
            text = text.replace(old, new)
        return text

    objects = tuple(one.changed(id=name(one.id), support_id=name(one.support_id)) for one in contents.scene.objects)
    units = tuple(
        replace(one, object_id=name(one.object_id), support_id=name(one.support_id)) for one in contents.units
    )
    documents = tuple(replace(one, body=json.loads(in_text(json.dumps(dict(one.body))))) for one in contents.documents)
    steps = tuple(
        replace(one, visible=tuple(map(name, one.visible)), relations=tuple(map(in_text, one.relations)))
        for one in contents.steps
    )
    scene = replace(contents.scene, objects=objects)
    return replace(
        contents, scene=scene, units=units, documents=documents, steps=steps, session=in_text(contents.session)
    )


def _opened(folder: Path, now_ns: int) -> Store:
    config = memory_config(folder)
    return open_store(config.database, config.robot_id, config.site, config.store, lambda: now_ns)


class StoppedError(Exception):
    """The scenario is not played any further."""


class Shuffling:
    """Finds out what scenarios hold before their last judged step, each once.

    days: in the order of their files; make_player: of the robot in a scenario.
    """

    def __init__(
        self, days: Sequence[Day], lives: Lives, make_player: Callable[[RobotLife, Day], Player], goals: bool
    ) -> None:
        self._days = days
        self._lives = lives
        self._make_player = make_player
        self._goals = goals
        self._held: dict[str, tuple[Contents, Path]] = {}

    def play(self, day: Day, memory: str) -> DayReport:
        """Return what came of a scenario with one memory shuffled."""
        return self._lives.play(day, "", lambda life, folder: self._run(day, memory, life, folder))

    def _run(self, day: Day, memory: str, life: RobotLife, folder: Path) -> DayRun:
        other, others_folder = self._held_in(self._next(day))
        player = self._make_player(life, day)
        numbers = itertools.count(1)

        def swap(_: int) -> None:
            own = _contents_of(life, player)
            _take_over(life, player, own, other, memory, folder / f"shuffled{next(numbers)}", others_folder)

        return DayRun(day, life, player, self._goals, folder, before_judged=swap)

    def _next(self, day: Day) -> Day:
        alike = [one for one in self._days if one.scenario.category == day.scenario.category]
        return alike[(alike.index(day) + 1) % len(alike)]

    def _held_in(self, day: Day) -> tuple[Contents, Path]:
        if day.scenario.id not in self._held:
            self._held[day.scenario.id] = self._found_out(day)
        return self._held[day.scenario.id]

    def _found_out(self, day: Day) -> tuple[Contents, Path]:
        life, folder = self._lives.begin(day.scenario)
        player = self._make_player(life, day)
        found: list[Contents] = []

        def stop(index: int) -> None:
            if index == day.scenario.judged[-1]:
                found.append(_contents_of(life, player))
                raise StoppedError

        DayRun(day, life, player, self._goals, folder, before_judged=stop).play()
        if not found:  # it is broken or crashed before that
            found.append(_contents_of(life, player))
        kept = folder / "kept"
        kept.mkdir()
        write_contents(found[0], kept)
        return found[0], kept


def _contents_of(life: RobotLife, player: Player) -> Contents:
    """Return what a running robot holds; its memory is closed."""
    units, unfinished = life.memory.cache.units(), life.memory.recall_past().unfinished
    life.memory.close()
    session = player.session_text() if isinstance(player, RobotPlayer) else ""
    return replace(read_contents(life.folder, units, session, life.now_ns()), unfinished=unfinished)


def _take_over(
    life: RobotLife, player: Player, own: Contents, other: Contents, memory: str, folder: Path, others_folder: Path
) -> None:
    folder.mkdir()
    mixed = with_memory_of(own, other, memory)
    write_contents(mixed, folder)
    life.move_to(folder)
    life.memory.cache.clear()
    for unit in mixed.units:
        life.memory.cache.put(unit)
    if not isinstance(player, RobotPlayer):
        return
    # Lessons are drawn from tries, which are kept with the episodes: each is shuffled without the other.
    if memory in (EPISODES, LESSONS):
        player.tries = tries_in(own, own if memory == EPISODES else other)
    if memory == LESSONS:
        taught = folder.with_name(f"{folder.name}_taught")
        taught.mkdir()
        write_contents(with_memory_of(mixed, other, EPISODES), taught)
        player.guidance = replace(life.memory.guidance, retrieve=_retrieval_in(life, taught))
    if memory == WORKING:
        later_ns = own.now_ns - other.now_ns
        player.set_session(_as_if_now(other.session, later_ns))
        player.unfinished = tuple(_begun_later(episode, later_ns) for episode in other.unfinished)
    if memory == COMPILER:
        theirs = folder.with_name(f"{folder.name}_theirs")
        shutil.copytree(others_folder, theirs)
        player.guidance = replace(life.memory.guidance, retrieve=_retrieval_in(life, theirs))


def _retrieval_in(life: RobotLife, folder: Path) -> Retrieve:
    """Return what retrieves for the compiler from another memory."""
    return life.also_open(folder).guidance.retrieve


def _as_if_now(session: str, later_ns: int) -> str:
    """Return a conversation that ended later by so much."""
    if not session:
        return ""
    kept = json.loads(session)
    kept["ended_ns"] += later_ns
    return json.dumps(kept)


def _begun_later(episode: EpisodeSummary, later_ns: int) -> EpisodeSummary:
    return replace(episode, started_ns=episode.started_ns + later_ns, ended_ns=episode.ended_ns + later_ns)
