"""Files of a folder by the numbers in their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

IMAGES = (".jpg", ".jpeg", ".png")


def numbered(paths: Iterable[Path]) -> dict[int, Path]:
    """Return files by the last number in their names (frame-000012.color.jpg: 12), in its order."""
    found = {}
    for path in paths:
        numbers = re.findall(r"\d+", path.name.split(".")[0])
        if numbers:
            found[int(numbers[-1])] = path
    return dict(sorted(found.items()))


def images_in(folder: Path, start: str = "") -> dict[int, Path]:
    """Return the images of a folder whose names begin with `start`, by number."""
    if not folder.is_dir():
        return {}
    return numbered(p for p in folder.iterdir() if p.suffix.lower() in IMAGES and p.name.startswith(start))
