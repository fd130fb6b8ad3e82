"""Lookups of the short-term memory: counted by readers without the writers' lock, worked off by who holds it."""

from __future__ import annotations

from collections import deque

from memory_node.short_term.replacement import ToldPolicy


class LookupCounts:
    """How many lookups were worked off, and how many of them were hits.

    `note` may be called by any thread at any time, `work_off` only under the writers' lock.
    """

    def __init__(self) -> None:
        self._noted: deque[str] = deque()
        self.lookups = 0
        self.hits = 0

    def note(self, answered_by: str) -> None:
        """Note one lookup; answered_by: the object id that answered it, or "" for a miss."""
        self._noted.append(answered_by)

    def work_off(self, policy: ToldPolicy) -> None:
        """Count what was noted, and tell the policy of the units that were used."""
        while self._noted:
            answered_by = self._noted.popleft()
            self.lookups += 1
            if answered_by:
                self.hits += 1
                # It may have been evicted between the answer and now; then there is nothing to use.
                if answered_by in policy:
                    policy.access(answered_by)
