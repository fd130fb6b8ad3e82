"""The episodes that run, and the last ones that have ended."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import NotFoundError
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, EpisodeSummary
from memory_node.episodes.running_episode import RunningEpisode

# Ended episodes that are remembered by id, to answer a repeated EndEpisode.
ENDED_KEPT = 1000


class EpisodeRegister:
    """Episodes by id; not thread-safe. window, kinds: of their working memory, see RunningEpisode."""

    def __init__(self, window: int, kinds: ObjectCatalogue | None = None) -> None:
        self._window = window
        self._kinds = kinds
        self._running: dict[str, RunningEpisode] = {}
        self._ended: dict[str, EpisodeAccount] = {}

    def __len__(self) -> int:
        """The number of running episodes."""
        return len(self._running)

    def begin(self, summary: EpisodeSummary, held_object: str = "") -> bool:
        """Begin an episode; return whether it is new. held_object: class of what the hand holds."""
        if summary.id in self._running or summary.id in self._ended:
            return False
        self._running[summary.id] = RunningEpisode(summary, self._window, held_object, self._kinds)
        return True

    def add_task_type(self, episode_id: str, task_type: str) -> EpisodeSummary | None:
        """Give a running episode a task type, if it has none; return its summary if that changed it."""
        episode = self._running.get(episode_id)
        if episode is None or not task_type or episode.summary.task_type:
            return None
        episode.summary = replace(episode.summary, task_type=task_type)
        return episode.summary

    def running(self, episode_id: str) -> RunningEpisode:
        """Return a running episode.

        Raises:
            NotFoundError: the episode is not running.
        """
        if episode_id not in self._running:
            state = "has ended" if episode_id in self._ended else "was never started"
            raise NotFoundError(f"episode {episode_id!r} {state}")
        return self._running[episode_id]

    def find(self, episode_id: str) -> RunningEpisode | None:
        """Return a running episode; None when it is not running."""
        return self._running.get(episode_id)

    def latest(self) -> RunningEpisode | None:
        """Return the running episode that began last."""
        return next(reversed(self._running.values()), None)

    def summaries(self) -> tuple[EpisodeSummary, ...]:
        """Return the running episodes in the order in which they began."""
        return tuple(episode.summary for episode in self._running.values())

    def silent_since(self, stamp_ns: int) -> list[str]:
        """Return the ids of the running episodes without a sign of life since a stamp."""
        return [episode_id for episode_id, episode in self._running.items() if episode.last_ns < stamp_ns]

    def has_ended(self, episode_id: str) -> bool:
        """Return whether an episode is among the last ones that have ended."""
        return episode_id in self._ended

    def account_of(self, episode_id: str) -> EpisodeAccount:
        """Return what an episode took and what was said in it, of the last ones that have ended."""
        return self._ended.get(episode_id, NO_ACCOUNT)

    def end(self, episode_id: str, account: EpisodeAccount = NO_ACCOUNT) -> None:
        """Note that an episode has ended."""
        self._running.pop(episode_id, None)
        self._ended[episode_id] = account
        while len(self._ended) > ENDED_KEPT:
            del self._ended[next(iter(self._ended))]
