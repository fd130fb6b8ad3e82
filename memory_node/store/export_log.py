"""Notes beside a store which exports of it were written, so that forgetting can tell of them."""

from __future__ import annotations

import json
from pathlib import Path

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.resources import create_private
from memory_node.store.location import Folders

NAME = "exports.jsonl"


def note_export(folders: Folders, target: Path, clock: Clock = system_clock) -> None:
    """Note that a file or folder now holds what the store held; raises OSError where that cannot be written."""
    path = folders.data / NAME
    create_private(path)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"path": str(target), "made_ns": clock()}) + "\n")


def noted_exports(folders: Folders) -> list[Path]:
    """Return the files and folders that were noted, each once; lines that cannot be read are passed over."""
    path = folders.data / NAME
    if not path.is_file():
        return []
    found: dict[Path, None] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found[Path(json.loads(line)["path"])] = None
        except (ValueError, KeyError, TypeError):
            continue
    return list(found)
