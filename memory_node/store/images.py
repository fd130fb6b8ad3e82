"""Images on the disk: only inside the data folder, only for their owner."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from memory_node.domain.private_files import create_private
from memory_node.store.errors import ConfinementError


class ImageFolder:
    """The images of remembered things, one JPEG an id, under `root`.

    Files are named by a digest of the id, which is safe whatever the id contains and tells nothing.
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

    def name_of(self, record_id: str) -> str:
        """Return the name of a thing's image, relative to the folder."""
        return hashlib.sha256(record_id.encode()).hexdigest()[:32] + ".jpg"

    def save(self, record_id: str, jpeg: bytes) -> str:
        """Write the image of a thing and return its name."""
        path = self.resolve(self.name_of(record_id))
        partial = path.with_suffix(".part")
        create_private(partial)
        partial.write_bytes(jpeg)
        os.replace(partial, path)
        return path.name

    def forget(self, record_id: str) -> int:
        """Overwrite and remove the image of a thing; return how many files went."""
        path = self.root / self.name_of(record_id)
        if path.is_symlink() or not path.is_file():
            return 0
        with open(path, "r+b") as file:
            file.write(bytes(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        return 1
