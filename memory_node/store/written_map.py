"""The map as it was written last, from which the next one is told as changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from memory_node.domain.scene import Relation
from memory_node.store.records import Recordable, Removed
from memory_node.store.rows import MapRecord
from memory_node.store.write_backlog import Ticket


class WrittenMap:
    """The floors, rooms, areas and relations that the store holds. Safe to use from several threads."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, ...], MapRecord] = {}
        self._lock = threading.Lock()

    def note(self, records: Iterable[MapRecord]) -> None:
        """Take over what was read: that is written already."""
        with self._lock:
            self._records = {_key(record): record for record in records}

    def replace(self, records: Iterable[MapRecord], append: Callable[[Sequence[Recordable]], Ticket]) -> Ticket:
        """Make these the whole map: append what changed, and the removal of what is absent now; return its receipt."""
        wanted = {_key(record): record for record in records}
        with self._lock:
            changed: list[Recordable] = [record for key, record in wanted.items() if self._records.get(key) != record]
            gone = [Removed(record) for key, record in self._records.items() if key not in wanted]
            ticket = append([*changed, *gone])
            self._records = wanted
        return ticket


def _key(record: MapRecord) -> tuple[str, ...]:
    if isinstance(record, Relation):
        return "Relation", record.source_id, record.kind.value, record.target_id
    return type(record).__name__, record.id
