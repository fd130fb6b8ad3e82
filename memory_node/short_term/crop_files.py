"""Image crops of the remembered objects as files in one folder, under a budget of bytes."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Iterable
from pathlib import Path

from memory_node.domain.private_files import create_private

_log = logging.getLogger(__name__)


class CropFiles:
    """Keeps one JPEG for each object; the crop written longest ago goes when the budget is spent.

    folder: made if missing; "" for a temporary folder that ends with this object. Not thread-safe.
    """

    def __init__(self, folder: str, budget_bytes: int) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="robot_memory_crops_") if not folder else None
        self._folder = Path(self._temporary.name if self._temporary else folder)
        self._budget_bytes = budget_bytes
        self._sizes: dict[str, int] = {}
        self.used_bytes = 0

    def write(self, object_id: str, jpeg: bytes) -> tuple[str, list[str]]:
        """Keep the crop; return its path and the objects whose crop had to go.

        The path is "" when the crop alone exceeds the budget, or the disk does not take it.
        """
        if len(jpeg) > self._budget_bytes:
            self.remove(object_id)
            return "", []
        path = self._path(object_id)
        try:
            create_private(path)
            path.write_bytes(jpeg)
        except OSError as error:
            # A full or read-only disk costs the picture, not the memory of the object.
            _log.warning("the picture of %s cannot be kept: %s", object_id, error)
            self.remove(object_id)
            return "", []
        self._count(object_id, len(jpeg))
        dropped: list[str] = []
        while self.used_bytes > self._budget_bytes:
            dropped.append(next(iter(self._sizes)))
            self.remove(dropped[-1])
        return str(path), dropped

    def remove(self, object_id: str) -> None:
        """Remove the object's crop, if there is one."""
        if object_id in self._sizes:
            self.used_bytes -= self._sizes.pop(object_id)
            _discard(self._path(object_id))

    def adopt(self, object_ids: Iterable[str]) -> None:
        """Take over the crops of these objects from an earlier life of the folder; remove all others."""
        strangers = set(self._folder.glob("*.jpg"))
        for object_id in object_ids:
            path = self._path(object_id)
            if path in strangers:
                self._count(object_id, path.stat().st_size)
                strangers.discard(path)
        for path in strangers:
            _discard(path)

    def _path(self, object_id: str) -> Path:
        # Ids come from outside too: a digest is a safe file name whatever they contain.
        return self._folder / (hashlib.sha256(object_id.encode()).hexdigest()[:32] + ".jpg")

    def _count(self, object_id: str, size: int) -> None:
        self.used_bytes += size - self._sizes.pop(object_id, 0)
        self._sizes[object_id] = size


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("a picture cannot be removed: %s", error)
