"""Search indexes beside the store: loaded when they fit what the store holds, else rebuilt by their owner."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.private_files import create_private


class IndexFolder:
    """Index files, each with a checksum of its bytes and the content that it was built from."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def _path(self, name: str) -> Path:
        if not name.isidentifier():
            raise InvalidValueError(f"index name: expected an identifier, got {name!r}")
        return self.root / f"{name}.index"

    def save(self, name: str, content: str, payload: bytes) -> None:
        """Keep an index that was built from the content with this key (see `Store.content_key`)."""
        path = self._path(name)
        partial = path.with_suffix(".part")
        create_private(partial)
        head = json.dumps({"content": content, "sha256": hashlib.sha256(payload).hexdigest()}).encode()
        partial.write_bytes(head + b"\n" + payload)
        os.replace(partial, path)

    def load(self, name: str, content: str) -> bytes | None:
        """Return the index if it is whole and was built from this content; None means: build it again."""
        path = self._path(name)
        if not path.is_file():
            return None
        head, _, payload = path.read_bytes().partition(b"\n")
        try:
            noted = json.loads(head)
        except ValueError:
            return None
        if not isinstance(noted, dict) or noted.get("content") != content:
            return None
        return payload if noted.get("sha256") == hashlib.sha256(payload).hexdigest() else None

    def clear(self) -> None:
        """Remove all indexes: something was forgotten, and they may still hold it."""
        if self.root.is_dir():
            for path in self.root.glob("*.index"):
                path.unlink()
