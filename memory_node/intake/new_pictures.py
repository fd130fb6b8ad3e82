"""Tells which pictures of objects are new: the scene graph keeps the best one, not the last."""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.domain.scene import SceneObject


class NewPictures:
    """Knows each object's picture that was taken note of, and when.

    An old picture says nothing about the state that an object is in now, so those of `known` objects are not new.
    interval_s: a robot that comes nearer takes a better picture in every frame; one in this time is enough.
    """

    def __init__(self, known: Iterable[SceneObject], interval_s: float) -> None:
        self._interval_ns = int(interval_s * 1e9)
        self._seen = {found.id: (found.crop_jpeg, found.last_seen_ns) for found in known if found.crop_jpeg}

    def take(self, found: SceneObject) -> bool:
        """Return whether the object has a picture that is new, and take note of it."""
        crop, stamp_ns = self._seen.get(found.id, (b"", -self._interval_ns))
        if not found.crop_jpeg or found.crop_jpeg is crop or found.crop_jpeg == crop:
            return False
        if found.last_seen_ns - stamp_ns < self._interval_ns:
            return False
        self._seen[found.id] = (found.crop_jpeg, found.last_seen_ns)
        return True

    def forget(self, object_id: str) -> None:
        """Take no more note of an object."""
        self._seen.pop(object_id, None)
