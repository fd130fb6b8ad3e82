"""Images on the disk: only inside the data folder, only for their owner."""

from __future__ import annotations

import os
import re
from pathlib import Path

from memory_node.store.engine import create_private
from memory_node.store.errors import ConfinementError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")


class ImageFolder:
    """The images of remembered things, one JPEG an id, under `root`."""

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
        """Write the image of a thing and return its path relative to the folder.

        Raises:
            ConfinementError: the id cannot be a file's name.
        """
        if not _NAME.fullmatch(record_id):
            raise ConfinementError(f"{record_id!r} cannot name an image file")
        relative = f"{record_id}.jpg"
        path = self.resolve(relative)
        partial = path.with_suffix(".part")
        create_private(partial)
        partial.write_bytes(jpeg)
        os.replace(partial, path)
        return relative

    def forget(self, record_id: str) -> int:
        """Overwrite and remove the image of a thing; return how many files went."""
        if not _NAME.fullmatch(record_id):
            return 0
        path = self.resolve(f"{record_id}.jpg")
        if not path.is_file():
            return 0
        with open(path, "r+b") as file:
            file.write(bytes(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        return 1
