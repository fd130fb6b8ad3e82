"""Finds the attempts most like a query {room, task type, objects} without scanning all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import islice

from memory_node.episodes.past_attempt import PastAttempt

# Weight of each agreement. The task type weighs most, because one asks what worked for a task.
_TASK, _OBJECT, _ROOM = 0.5, 0.35, 0.15
# Only the newest records of each posting list are compared: older ones of the same kind add little.
_NEWEST = 200


class AttemptIndex:
    """Past attempts by task type, object and room; not thread-safe."""

    def __init__(self) -> None:
        self._records: dict[str, PastAttempt] = {}
        self._postings: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._records

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the episodes."""
        return iter(self._records)

    def add(self, record: PastAttempt) -> None:
        """Add a record, or replace the one of the same episode."""
        self.remove(record.episode_id)
        self._records[record.episode_id] = record
        for posting in _postings(record):
            self._postings[posting][record.episode_id] = None

    def remove(self, episode_id: str) -> None:
        """Remove an episode's record, if there is one."""
        record = self._records.pop(episode_id, None)
        for posting in _postings(record) if record else ():
            self._postings[posting].pop(episode_id, None)

    def of_task(self, task_type: str) -> list[PastAttempt]:
        """Return the newest records of a task type, oldest of them first."""
        return [self._records[i] for i in _newest(self._posted("task", task_type))]

    def similar(self, task_type: str, objects: Iterable[str], room: str, k: int) -> list[PastAttempt]:
        """Return the k records most like the query, most similar first, newer first among equals."""
        wanted = set(objects)
        of_task, of_room = self._posted("task", task_type), self._posted("room", room)
        of_objects = [self._posted("object", name) for name in wanted]
        candidates = {i for posted in (of_task, of_room, *of_objects) for i in _newest(posted)}
        share = _OBJECT / len(wanted) if wanted else 0.0

        def rank(episode_id: str) -> tuple[float, int, str]:
            score = _TASK * (episode_id in of_task) + _ROOM * (episode_id in of_room)
            score += share * sum([episode_id in posted for posted in of_objects])
            return -score, -self._records[episode_id].stamp_ns, episode_id

        return [self._records[i] for _, _, i in nsmallest(k, map(rank, candidates))]

    def _posted(self, kind: str, name: str) -> dict[str, None]:
        return self._postings.get((kind, name), {}) if name else {}


def _newest(posted: dict[str, None]) -> list[str]:
    return list(islice(reversed(posted), _NEWEST))[::-1]


def _postings(record: PastAttempt) -> list[tuple[str, str]]:
    objects = [("object", name) for name in record.objects]
    return [("task", record.task_type), ("room", record.room), *objects]
