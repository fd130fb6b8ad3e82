"""Creates files and folders that only their owner may read: memory is private data about people's homes."""

from __future__ import annotations

import os
from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, that only its owner enters (0700); what is there stays as it is."""
    for missing in reversed([folder, *folder.parents]):
        missing.mkdir(exist_ok=True, mode=0o700)


def create_private(path: Path) -> None:
    """Make `path` a file that only its owner reads and writes (0600), creating it and its folder if need be.

    A file that is there is not opened: closing it would end the locks that SQLite has on it in this process.
    """
    path = Path(os.path.realpath(path))
    make_private_folder(path.parent)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not path.is_file():
            raise
        path.chmod(0o600)  # where nothing can be written, this says why
