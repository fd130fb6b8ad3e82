"""Creates files and folders that only their owner may read: memory is private data about people's homes."""

from __future__ import annotations

import os
from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, that only its owner enters (0700); what is there stays as it is."""
    for missing in reversed([folder, *folder.parents]):
        missing.mkdir(exist_ok=True, mode=0o700)


def create_private(path: Path) -> None:
    """Make `path` a file that only its owner reads and writes (0600), creating it and its folder if need be."""
    make_private_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_mode & 0o177:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
