"""What happened in earlier episodes, for people who look into memory."""

from __future__ import annotations

from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.experience import Experience
from memory_node.store.store import Store


class PastEpisodes:
    """store: None for a memory of this process only, which keeps no episode but those that run."""

    def __init__(self, store: Store | None, experience: Experience) -> None:
        self._store = store
        self._experience = experience

    def episodes(self, newest: int) -> tuple[EpisodeSummary, ...]:
        """Return the newest episodes of all robots of the site, the newest first.

        Raises:
            StoreUnavailableError: the database cannot be read now.
        """
        found = self._store.newest_episodes(newest) if self._store is not None else self._experience.running
        return tuple(reversed(found))[:newest]

    def steps(self, episode_id: str) -> tuple[StepRecord, ...]:
        """Return an episode's steps in order; none of an episode that nobody knows.

        Raises:
            StoreUnavailableError: the database cannot be read now.
        """
        return tuple(self._store.steps(episode_id)) if self._store is not None else ()
