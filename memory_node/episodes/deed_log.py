"""Every deed of the robot, durable with its episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from memory_node.domain.step import Deed

DEEDS = "deed"


class DocumentLog(Protocol):
    """Where deeds become durable."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep (id, values, the episodes that support it) under a kind."""


class DeedLog:
    """Every deed, in the order in which they were done. log: keeps new ones. learning: whether these teach."""

    def __init__(self, log: DocumentLog, learning: bool = True) -> None:
        self._log, self._learning = log, learning
        self._deeds: dict[str, Deed] = {}
        self._untaught: set[str] = set()  # sources of those that teach nothing

    def load(self, stored: Iterable[dict[str, Any]]) -> None:
        """Take over what the store holds."""
        loaded = sorted(map(Deed.from_dict, stored), key=lambda deed: deed.stamp_ns)
        self._deeds = {deed.source: deed for deed in loaded}

    def add(self, deed: Deed) -> None:
        """Take over a deed, durable with the next commit."""
        self._deeds[deed.source] = deed
        self._untaught |= set() if self._learning else {deed.source}
        self._log.put_documents(DEEDS, [(deed.source, asdict(deed), (deed.episode_id,))])

    def all(self) -> tuple[Deed, ...]:
        """Return every deed, failed tries too, the newest last."""
        return tuple(self._deeds.values())

    def teaching(self) -> tuple[Deed, ...]:
        """Return the deeds that may be learnt from, the newest last."""
        return tuple(deed for source, deed in self._deeds.items() if source not in self._untaught)

    def posed_with(self, object_class: str) -> tuple[Deed, ...]:
        """Return the deeds in which a pose with a thing of a class was tried, the newest last."""
        found = (deed for deed in self._deeds.values() if any(one.object_class == object_class for one in deed.tried))
        return tuple(found)

    def last(self, skill: str) -> Deed | None:
        """Return the last deed of a skill that succeeded, None where there is none."""
        done = (deed for deed in reversed(self._deeds.values()) if deed.skill == skill and not deed.reason)
        return next(done, None)

    def drop(self, is_gone: Callable[[Deed], bool]) -> None:
        """Give up deeds that the store has forgotten."""
        self._deeds = {source: deed for source, deed in self._deeds.items() if not is_gone(deed)}
