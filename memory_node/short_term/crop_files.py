"""Image crops of the remembered objects as files in one folder, under a budget of bytes."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from pathlib import Path


class CropFiles:
    """Keeps one JPEG for each object; the crop written longest ago goes when the budget is spent.

    folder: made if missing; "" for a temporary folder that ends with this object. Not thread-safe.
    """

    def __init__(self, folder: str, budget_bytes: int) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="robot_memory_crops_") if not folder else None
        self._folder = Path(self._temporary.name if self._temporary else folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._budget_bytes = budget_bytes
        self._sizes: dict[str, int] = {}
        self.used_bytes = 0

    def write(self, object_id: str, jpeg: bytes) -> tuple[str, list[str]]:
        """Keep the crop; return its path ("" when it alone exceeds the budget) and the objects whose crop had to go."""
        if len(jpeg) > self._budget_bytes:
            self.remove(object_id)
            return "", []
        path = self._path(object_id)
        path.write_bytes(jpeg)
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
            self._path(object_id).unlink(missing_ok=True)

    def adopt(self, object_ids: Iterable[str]) -> None:
        """Take over the crops of these objects from an earlier life of the folder; remove all others."""
        strangers = set(self._folder.glob("*.jpg"))
        for object_id in object_ids:
            path = self._path(object_id)
            if path in strangers:
                self._count(object_id, path.stat().st_size)
                strangers.discard(path)
        for path in strangers:
            path.unlink(missing_ok=True)

    def _path(self, object_id: str) -> Path:
        # Ids come from outside too: a digest is a safe file name whatever they contain.
        return self._folder / (hashlib.sha256(object_id.encode()).hexdigest()[:32] + ".jpg")

    def _count(self, object_id: str, size: int) -> None:
        self.used_bytes += size - self._sizes.pop(object_id, 0)
        self._sizes[object_id] = size
