"""Finds the attempts and records most like a query {room, task type, objects} without scanning all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from memory_node.experience.record import ExperienceRecord

# How much each agreement says; task type first, as what worked for a task is what one wants to know.
_TASK, _OBJECT, _ROOM = 0.5, 0.35, 0.15
# Only the newest records of each posting list are compared: older ones of the same kind add little.
_NEWEST = 200


class RecordIndex:
    """Experience records by task type, object and room; not thread-safe."""

    def __init__(self) -> None:
        self._records: dict[str, ExperienceRecord] = {}
        self._postings: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._records)

    def add(self, record: ExperienceRecord) -> None:
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

    def of_task(self, task_type: str) -> list[ExperienceRecord]:
        """Return the newest records of a task type, oldest of them first."""
        return [self._records[i] for i in self._newest(("task", task_type))]

    def similar(self, task_type: str, objects: Iterable[str], room: str, k: int) -> list[ExperienceRecord]:
        """Return the k records most like the query, most similar first, newer first among equals."""
        wanted = set(objects)
        keys = [("task", task_type), ("room", room), *(("object", name) for name in wanted)]
        candidates = {i for key in keys if key[1] for i in self._newest(key)}

        def score(episode_id: str) -> float:
            record = self._records[episode_id]
            shared = sum(name in record.objects for name in wanted) / len(wanted) if wanted else 0.0
            fits_task, fits_room = bool(task_type) and record.task_type == task_type, bool(room) and record.room == room
            return _TASK * fits_task + _OBJECT * shared + _ROOM * fits_room

        ranked = sorted(candidates, key=lambda i: (-score(i), -self._records[i].stamp_ns, i))
        return [self._records[i] for i in ranked[:k]]

    def _newest(self, key: tuple[str, str]) -> list[str]:
        listed = self._postings.get(key, {})
        newest = []
        for episode_id in reversed(listed):
            newest.append(episode_id)
            if len(newest) == _NEWEST:
                break
        return newest[::-1]


def _postings(record: ExperienceRecord) -> list[tuple[str, str]]:
    objects = [("object", name) for name in record.objects]
    return [("task", record.task_type), ("room", record.room), *objects]
