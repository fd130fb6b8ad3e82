"""The page's files, read once, so that no path from a client reaches the disk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class PageFile:
    """One file with what HTTP says of it."""

    body: bytes
    content_type: str
    etag: str


def page_files() -> dict[str, PageFile]:
    """Return the page's files by name."""
    found = {}
    for entry in (resources.files("memory_node.inspector") / "page").iterdir():
        ending = "." + entry.name.rpartition(".")[2]
        if ending in _TYPES:
            body = entry.read_bytes()
            found[entry.name] = PageFile(body, _TYPES[ending], f'"{hashlib.sha256(body).hexdigest()[:16]}"')
    return found
