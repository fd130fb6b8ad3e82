"""The map epoch: a stored graph is bound to the map that it was built in, until relocalisation is confirmed."""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.domain.scene import SceneEvent, SceneEventKind

# So many fixed things found where they are remembered prove that the map is the same one.
_ENOUGH_FIXED_OBJECTS = 3


class MapEpoch:
    """Says whether the map frame is trusted. A graph that starts empty trusts its own map; a loaded one has to be
    confirmed, by a service or by fixed objects that are seen again where they are remembered.
    """

    def __init__(self, fixed_ids: Iterable[str], loaded: bool) -> None:
        self._fixed = frozenset(fixed_ids)
        self._seen: set[str] = set()
        self.verified = not loaded

    def note(self, events: Iterable[SceneEvent]) -> bool:
        """Take notice of what a frame changed; return whether that has just verified the frame."""
        if self.verified:
            return False
        self._seen.update(
            event.object.id
            for event in events
            if event.kind is SceneEventKind.UPDATED and event.object.id in self._fixed
        )
        self.verified = len(self._seen) >= _ENOUGH_FIXED_OBJECTS
        return self.verified

    def confirm(self) -> None:
        """Trust the frame: the robot is localised in the map that the graph was built in."""
        self.verified = True
