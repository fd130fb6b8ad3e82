"""Learns from the attempts at one game after the other, as the product does, and keeps what it learnt in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from benchmarks.alfworld.carried import CarriedExperience
from benchmarks.alfworld.game_episodes import GameEpisode
from memory_node.domain.ids import new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.step import StepRecord
from memory_node.episodes.past_attempt import ATTEMPTS
from memory_node.knowledge.knowledge_nodes import Source
from memory_node.lessons.lesson import LESSONS
from memory_node.opening import StoreLog
from memory_node.store.store import Store

# On the clock of what is learnt each game takes an hour, so that the newer of two lessons can be told.
GAME_NS = 3_600_000_000_000


class ExperienceOfGames:
    """store: where it was kept before, and is kept from now on; None: it ends with the process."""

    def __init__(self, store: Store | None, embedder: TextEmbedder) -> None:
        self._kept = Kept.of(store) if store is not None else Kept()
        carried = self._kept.carried
        self._now_ns = carried.ended_ns
        self._log = _ExperienceLog(store, self._kept)
        self._experience = carried.experience(self._log, lambda: self._now_ns, embedder)

    @property
    def carried(self) -> CarriedExperience:
        """All that was learnt so far."""
        return self._kept.carried

    def learn(self, episodes: Sequence[GameEpisode]) -> None:
        """Learn from the attempts at the next game, in order. Their stamps count from the game's own beginning."""
        began_ns = self._now_ns = self._kept.carried.ended_ns + GAME_NS
        for episode in episodes:
            told = episode.summary
            self._now_ns = began_ns + told.started_ns
            episode_id = self._experience.start(told.instruction, told.task_type, new_id(), told.attempt)
            for step in episode.steps:
                self._experience.record(replace(step, episode_id=episode_id, stamp_ns=began_ns + step.stamp_ns))
            self._experience.note_given(episode.given, episode_id)
            self._now_ns = began_ns + told.ended_ns
            lesson = self._experience.end(episode_id, told.success, told.message)
            if lesson is not None:
                lesson.result()

    def close(self) -> None:
        """End the learning."""
        self._experience.close()


class Kept:
    """Everything that was learnt, as it goes into the store: by kind and id, and the steps by their episode."""

    def __init__(self) -> None:
        self.documents: defaultdict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        self.episodes: dict[str, list[StepRecord]] = {}

    @classmethod
    def of(cls, store: Store) -> Kept:
        """Return what a store holds."""
        kept = cls()
        for document in store.bodies([ATTEMPTS, LESSONS]):
            kept.documents[document.kind][document.id] = dict(document.body)
        kept.episodes = {key: list(steps) for key, steps in groupby(store.steps(), lambda step: step.episode_id)}
        return kept

    @property
    def carried(self) -> CarriedExperience:
        """All of it as a game gets it."""
        attempts = sorted(
            self.documents[ATTEMPTS].values(), key=lambda values: (values["stamp_ns"], values["episode_id"])
        )
        return CarriedExperience(
            attempts=tuple(attempts),
            lessons=tuple(self.documents[LESSONS].values()),
            episodes=tuple((key, tuple(steps)) for key, steps in self.episodes.items()),
            ended_ns=attempts[-1]["stamp_ns"] if attempts else 0,
        )

    def put(self, kind: str, documents: Sequence[tuple[str, Mapping[str, Any], Any]]) -> None:
        """Keep documents."""
        for key, values, _ in documents:
            self.documents[kind][key] = dict(values)

    def remove(self, kind: str, ids: Sequence[str]) -> None:
        """Give documents up."""
        for key in ids:
            self.documents[kind].pop(key, None)


class _ExperienceLog(StoreLog):
    """Keeps experience in this process, and in the store if there is one."""

    def __init__(self, store: Store | None, kept: Kept) -> None:
        super().__init__(store)
        self._kept = kept

    def put_step(self, step: StepRecord) -> None:
        self._kept.episodes.setdefault(step.episode_id, []).append(step)
        super().put_step(step)

    def put_documents(
        self, kind: str, documents: Sequence[tuple[str, Mapping[str, Any], Sequence[str | Source]]]
    ) -> None:
        self._kept.put(kind, documents)
        super().put_documents(kind, documents)

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        self._kept.remove(kind, ids)
        super().remove_documents(kind, ids)
