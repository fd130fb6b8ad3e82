"""What games teach, kept in the store's file from run to run: where things usually are, and what attempts taught."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any

from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.episodes.past_attempt import ATTEMPTS
from memory_node.knowledge.knowledge_nodes import Source
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import LESSONS, ExperienceLog, Lesson
from memory_node.opening import StoreLog
from memory_node.scene_graph.place_habits import PLACE_CENSUS, PlaceCensus
from memory_node.store.engine import page_copy
from memory_node.store.store import Store, open_store

# Reading what some hundred games taught takes far less.
_LOADING_S = 60.0

Documents = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class CarriedExperience:
    """What attempts at other games taught, as the store keeps it. episodes: their steps by the episode's id, oldest
    first. ended_ns: when the last of them ended."""

    attempts: Documents = ()
    lessons: Documents = ()
    episodes: tuple[tuple[str, tuple[StepRecord, ...]], ...] = ()
    ended_ns: int = 0

    def known_lessons(self) -> list[Lesson]:
        """Return the lessons."""
        return [Lesson.from_dict(values) for values in self.lessons]

    def experience(
        self,
        log: ExperienceLog,
        now_ns: Callable[[], int],
        embedder: TextEmbedder | None = None,
    ) -> Experience:
        """Return the experience of a robot that has been through these games. log: keeps the episodes from now on;
        embedder: compares instructions."""
        found = Experience(ExperienceConfig(), log, now_ns, embedder=embedder)
        found.load(self.attempts, self.known_lessons())
        found.load_episodes(self.episodes)
        found.wait_settled(_LOADING_S)
        return found


@dataclass(frozen=True)
class Carried:
    """What a game is given. experience: None for places alone."""

    census: PlaceCensus = field(default_factory=PlaceCensus)
    experience: CarriedExperience | None = None


# A position behind a class ("Mug@12.0,5.0,0.5"), and a number behind a name ("shelf 3").
_POSITION = re.compile(r"@-?\d[-\d.,]*")
_NUMBER = re.compile(r" \d+\b")


@dataclass(frozen=True)
class GameEpisode:
    """One attempt. given: ids of the lessons that the planner was given."""

    summary: EpisodeSummary
    steps: tuple[StepRecord, ...] = ()
    given: frozenset[str] = frozenset()

    def from_stamp(self, began_ns: int) -> GameEpisode:
        """Return it with stamps that count from a moment."""
        told = self.summary
        summary = replace(told, started_ns=told.started_ns - began_ns, ended_ns=told.ended_ns - began_ns)
        return replace(
            self,
            summary=summary,
            steps=tuple(replace(step, stamp_ns=step.stamp_ns - began_ns) for step in self.steps),
        )

    def in_kinds(self, classes: Mapping[str, str]) -> GameEpisode:
        """Return it without what only this game has. classes: of the things that the text named, by their names."""
        summary = replace(
            self.summary,
            instruction=_in_kinds(self.summary.instruction, {}),
            message=_in_kinds(self.summary.message, classes),
        )
        return replace(self, summary=summary, steps=tuple(_lifted(step, classes) for step in self.steps))


def _lifted(step: StepRecord, classes: Mapping[str, str]) -> StepRecord:
    """Return a step over classes. The rooms of a game are plots that the robot made up: they say nothing elsewhere."""
    call = class_call(step.action)
    return replace(
        step,
        action=SkillCall(call.skill, tuple(classes.get(text, text) for text in call.arguments)),
        message=_in_kinds(step.message, classes),
        room="",
        area="",
        position=(0.0, 0.0, 0.0),
    )


def _in_kinds(text: str, classes: Mapping[str, str]) -> str:
    for name in sorted(classes, key=len, reverse=True):  # "drawer 10" before "drawer 1"
        text = text.replace(name, classes[name])
    return _NUMBER.sub("", _POSITION.sub("", text))


@dataclass
class EpisodeRecorder(ExperienceLog):
    """An `ExperienceLog` that keeps the episodes of one game. known: the lessons that the game began with."""

    known: Sequence[Lesson] = ()
    _summaries: dict[str, EpisodeSummary] = field(default_factory=dict)
    _steps: dict[str, list[StepRecord]] = field(default_factory=dict)
    _given: dict[str, set[str]] = field(default_factory=dict)
    _trials: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._trials = {lesson.id: lesson.given.trials for lesson in self.known}

    @property
    def episodes(self) -> tuple[GameEpisode, ...]:
        """All of them, in order."""
        return tuple(
            GameEpisode(summary, tuple(self._steps.get(key, ())), frozenset(self._given.get(key, ())))
            for key, summary in self._summaries.items()
        )

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep an episode as it stands now."""
        self._summaries[episode.id] = episode

    def put_step(self, step: StepRecord) -> None:
        """Keep a step; what came after the end of the game was not done."""
        if step.reason is not FailureReason.CANCELED:
            self._steps.setdefault(step.episode_id, []).append(step)

    def put_documents(self, kind: str, documents: Sequence[tuple[str, Mapping[str, Any], tuple[str, ...]]]) -> None:
        """Note which lessons were given in the episode that ended last: their trials have gone up."""
        for key, values, _ in documents if kind == LESSONS else ():
            trials = values["given"]["trials"]
            if trials > self._trials.get(key, 0):
                self._trials[key] = trials
                self._given.setdefault(next(reversed(self._summaries)), set()).add(key)

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Keep nothing of what goes."""


# On the clock of what is learnt each game takes an hour, so that the newer of two lessons can be told.
GAME_NS = 3_600_000_000_000


class _GamesLog(StoreLog):
    """All that attempts taught, by kind and id, with the steps by their episode; kept in the store, too, if there is
    one."""

    def __init__(self, store: Store | None) -> None:
        super().__init__(store)
        self._documents: defaultdict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
        self._episodes: dict[str, list[StepRecord]] = {}
        if store is not None:
            for document in store.bodies([ATTEMPTS, LESSONS]):
                self._documents[document.kind][document.id] = dict(document.body)
            by_episode = groupby(store.steps(), lambda step: step.episode_id)
            self._episodes = {key: list(steps) for key, steps in by_episode}

    @property
    def carried(self) -> CarriedExperience:
        """All of it as a game gets it."""
        attempts = sorted(
            self._documents[ATTEMPTS].values(), key=lambda values: (values["stamp_ns"], values["episode_id"])
        )
        return CarriedExperience(
            attempts=tuple(map(dict, attempts)),
            lessons=tuple(map(dict, self._documents[LESSONS].values())),
            episodes=tuple((key, tuple(steps)) for key, steps in self._episodes.items()),
            ended_ns=attempts[-1]["stamp_ns"] if attempts else 0,
        )

    def put_step(self, step: StepRecord) -> None:
        self._episodes.setdefault(step.episode_id, []).append(step)
        super().put_step(step)

    def put_documents(
        self, kind: str, documents: Sequence[tuple[str, Mapping[str, Any], Sequence[str | Source]]]
    ) -> None:
        self._documents[kind].update((key, dict(values)) for key, values, _ in documents)
        super().put_documents(kind, documents)

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        for key in ids:
            self._documents[kind].pop(key, None)
        super().remove_documents(kind, ids)


_SITE = "games"
_ROBOT = "player"


class Learnt:
    """The memory that goes from game to game; without a file it ends with the run.

    path: the store's file. learns: what is played is added to it, and it is made where it is missing. embedder: of what
    attempts teach; None: only places are read and learnt.

    Attributes:
        carried: what the next game is given.

    Raises:
        NotFoundError: there is no such file to start from.
        StoreError: it is no store of games.
    """

    def __init__(self, path: Path | None, learns: bool, embedder: TextEmbedder | None = None) -> None:
        if path is not None and not learns and not path.is_file():
            raise NotFoundError(f"there is no memory {path}; --learn makes one")
        self._store: Store | None = None
        self._learns = learns
        self._experience: Experience | None = None
        self.carried = Carried()
        if path is not None and not learns:
            # One process may write a store at a time; any number may read a copy of it.
            with page_copy(path) as copy, open_store(copy, _ROBOT, _SITE) as store:
                self.carried = Carried(_census(store), _GamesLog(store).carried if embedder is not None else None)
            return
        if path is not None:
            self._store = open_store(path, _ROBOT, _SITE)
            self.carried = Carried(_census(self._store))
        if embedder is not None:
            # It learns from one game after the other, as the product does.
            self._log = _GamesLog(self._store)
            known = self._log.carried
            self.carried, self._now_ns = Carried(self.census, known), known.ended_ns
            self._experience = known.experience(self._log, lambda: self._now_ns, embedder)

    def __enter__(self) -> Learnt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._experience is not None:
            self._experience.close()
        if self._store is not None:
            self._store.close()

    @property
    def census(self) -> PlaceCensus:
        """Where things usually are."""
        return self.carried.census

    def add(self, census: PlaceCensus, episodes: tuple[GameEpisode, ...] = ()) -> None:
        """Take over what a game taught, if anything; where a file keeps it, it is durable on return."""
        if not self._learns:
            return
        if episodes and self._experience is not None:
            self._learn(self._experience, episodes)
        if census.looks and self._store is not None:
            # No game is named: nothing of one can be recognised in another.
            self._store.put_documents(PLACE_CENSUS, [(new_id(), census.as_dict(), ())])
        if self._store is not None:
            self._store.flush()
        together = PlaceCensus.together((self.census, census))
        self.carried = Carried(together, self._log.carried if self._experience is not None else None)

    def _learn(self, experience: Experience, episodes: Sequence[GameEpisode]) -> None:
        """Learn from the attempts at the next game, in order. Their stamps count from the game's own beginning."""
        began_ns = self._now_ns = self._log.carried.ended_ns + GAME_NS
        for episode in episodes:
            told = episode.summary
            self._now_ns = began_ns + told.started_ns
            episode_id = experience.start(told.instruction, told.task_type, new_id(), told.attempt)
            for step in episode.steps:
                experience.record(replace(step, episode_id=episode_id, stamp_ns=began_ns + step.stamp_ns))
            experience.note_given(episode.given, episode_id)
            self._now_ns = began_ns + told.ended_ns
            lesson = experience.end(episode_id, told.success, told.message)
            if lesson is not None:
                lesson.result()


def _census(store: Store) -> PlaceCensus:
    return PlaceCensus.together(PlaceCensus.from_dict(document.body) for document in store.documents(PLACE_CENSUS))
