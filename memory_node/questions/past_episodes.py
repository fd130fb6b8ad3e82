"""What happened in earlier episodes, for people who look into memory."""

from __future__ import annotations

from memory_node.context.compilations import Compilations
from memory_node.context.told_contexts import PastEpisode, ToldContexts
from memory_node.domain.step import EpisodeSummary
from memory_node.lessons.experience import Experience
from memory_node.store.store import Store


class PastEpisodes:
    """store: None for a memory of this process only, which keeps no episode but those that run."""

    def __init__(
        self, store: Store | None, experience: Experience, guidance: Compilations, contexts: ToldContexts
    ) -> None:
        self._store = store
        self._experience = experience
        self._guidance = guidance
        self._contexts = contexts

    def episodes(self, newest: int) -> tuple[EpisodeSummary, ...]:
        """Return the newest episodes of all robots of the site, the newest first.

        Raises:
            StoreUnavailableError: the database cannot be read now.
        """
        found = self._store.episodes(newest) if self._store is not None else self._experience.running
        return tuple(reversed(found))[:newest]

    def episode(self, episode_id: str) -> PastEpisode:
        """Return what is kept of an episode; nothing of one that nobody knows.

        Raises:
            StoreUnavailableError: the database cannot be read now.
        """
        stored = self._store.steps(episode_id) if self._store is not None else ()
        steps = self._experience.with_reasoning(episode_id, stored)
        guided, told = self._guidance.of(episode_id), self._contexts.of_episode(episode_id)
        compiled = tuple(guided.delivered) if guided is not None else ()
        return PastEpisode(steps, compiled, told, self._experience.account_of(episode_id))
