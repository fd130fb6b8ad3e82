"""Images on the disk: only inside the data folder, only for their owner."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from memory_node.domain.resources import create_private, noted_checksum, picture_name, picture_prefix
from memory_node.store.errors import ConfinementError


class ImageFolder:
    """The images of remembered things, one JPEG an id, under `root`.

    Files are named by a digest of the id, which is safe whatever the id contains and tells nothing, and a checksum.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def resolve(self, relative: str) -> Path:
        """Return the path of an image that a record names.

        Raises:
            ConfinementError: the path is absolute, or leads out of the folder (also by a link).
        """
        root = self.root.resolve()
        path = (root / relative).resolve()
        if Path(relative).is_absolute() or not path.is_relative_to(root) or path == root:
            raise ConfinementError(f"the image path {relative!r} leaves the data folder {self.root}")
        return path

    def save(self, record_id: str, jpeg: bytes) -> str:
        """Write the image of a thing in the place of an older one, and return its name."""
        path = self.resolve(picture_name(record_id, jpeg))
        partial = path.with_suffix(".part")
        create_private(partial)
        partial.write_bytes(jpeg)
        os.replace(partial, path)
        for older in self._files_of(record_id):
            if older != path:
                older.unlink()
        return path.name

    def forget(self, record_id: str) -> int:
        """Overwrite and remove the images of a thing; return how many files went."""
        files = self._files_of(record_id)
        for path in files:
            with open(path, "r+b") as file:
                file.write(bytes(path.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()
        return len(files)

    def damaged(self) -> list[Path]:
        """Return the files whose bytes are not those of the checksum in their name."""
        files = sorted(self.root.glob("*.jpg")) if self.root.is_dir() else []
        noted = ((path, noted_checksum(path)) for path in files)
        return [path for path, checksum in noted if checksum not in (None, zlib.crc32(path.read_bytes()))]

    def _files_of(self, record_id: str) -> list[Path]:
        if not self.root.is_dir():
            return []
        found = self.root.glob(f"{picture_prefix(record_id)}*.jpg")
        return [path for path in found if path.is_file() and not path.is_symlink()]
