"""Image crops of the remembered objects as files in one folder, under a budget of bytes."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

from memory_node.domain.resources import create_private, picture_name

_log = logging.getLogger(__name__)
_JPEG = b"\xff\xd8\xff"
_LARGEST_BYTES = 4 * 2**20


def read_crop(path: str) -> bytes | None:
    """Return the picture that a unit's `image_path` names; None where no JPEG of at most 4 MiB lies there on this
    machine."""
    if not path or not Path(path).is_file() or Path(path).stat().st_size > _LARGEST_BYTES:
        return None
    jpeg = Path(path).read_bytes()
    return jpeg if jpeg.startswith(_JPEG) else None


class CropFiles:
    """Keeps one JPEG for each object; the crop written longest ago goes when the budget is spent.

    folder: made if missing, and emptied; "" for a temporary folder that ends with this object. Not thread-safe.
    """

    def __init__(self, folder: str, budget_bytes: int) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="robot_memory_crops_") if not folder else None
        self._folder = Path(self._temporary.name if self._temporary else folder)
        self._budget_bytes = budget_bytes
        self._files: dict[str, tuple[Path, int]] = {}  # with their sizes; the one written last stands last
        self.used_bytes = 0
        for left in (*self._folder.glob("*.jpg"), *self._folder.glob("*.part")):
            _discard(left)  # of an earlier life

    def write(self, object_id: str, jpeg: bytes) -> tuple[str, list[str]]:
        """Keep the crop; return its path and the objects whose crop had to go.

        The path is "" when the crop alone exceeds the budget, or the disk does not take it.
        """
        if len(jpeg) > self._budget_bytes:
            self.remove(object_id)
            return "", []
        path = self._folder / picture_name(object_id, jpeg)
        partial = path.with_suffix(".part")
        try:
            create_private(partial)
            partial.write_bytes(jpeg)
            os.replace(partial, path)
        except OSError as error:
            # A full or read-only disk costs the picture, not the memory of the object.
            _log.warning("the picture of %s cannot be kept: %s", object_id, error)
            self.remove(object_id)
            return "", []
        if object_id in self._files and self._files[object_id][0] != path:
            self.remove(object_id)
        self._keep(object_id, path, len(jpeg))
        dropped: list[str] = []
        while self.used_bytes > self._budget_bytes:
            dropped.append(next(iter(self._files)))
            self.remove(dropped[-1])
        return str(path), dropped

    def remove(self, object_id: str) -> None:
        """Remove the object's crop, if there is one."""
        if object_id in self._files:
            path, size = self._files.pop(object_id)
            self.used_bytes -= size
            _discard(path)

    def _keep(self, object_id: str, path: Path, size: int) -> None:
        _, before = self._files.pop(object_id, (path, 0))
        self.used_bytes += size - before
        self._files[object_id] = path, size


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("a picture cannot be removed: %s", error)
