"""Looks after the picture files beside a store: the names tell what the bytes must be."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from memory_node.domain.picture_files import noted_checksum
from memory_node.domain.private_files import create_private
from memory_node.store.correction import corrected_picture
from memory_node.store.location import Folders


def damaged_images(folders: Folders) -> Iterator[Path]:
    """Yield the pictures whose bytes are not what they were."""
    for folder in (folders.images, folders.crops):
        for path in sorted(folder.root.glob("*.jpg")) if folder.root.is_dir() else ():
            noted = noted_checksum(path)
            if noted is not None and path.is_file() and zlib.crc32(path.read_bytes()) != noted:
                yield path


def mend_image(path: Path) -> bool:
    """Undo the change of one byte of a damaged picture; where that does not explain it, the file is removed."""
    noted = noted_checksum(path)
    mended = corrected_picture(path.read_bytes(), noted) if noted is not None else None
    if mended is None:
        path.unlink()
        return False
    partial = path.with_suffix(".part")
    create_private(partial)
    partial.write_bytes(mended)
    os.replace(partial, path)
    return True
