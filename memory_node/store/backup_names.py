"""Names that a service may give a backup: files beside the store's own folders, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from memory_node.domain.errors import InvalidValueError
from memory_node.store.export_log import NAME

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}", re.ASCII)
# What lies in the data folder already, or comes to lie there.
RESERVED = frozenset({"images", "crops", "derived", "backups", "indexes", NAME})


def backup_file(data: Path, name: str) -> Path:
    """Return the path of a backup in the store's data folder; a caller of the service must not write elsewhere.

    Raises:
        InvalidValueError: the name is no plain file name, or the store's own.
    """
    if not _NAME.fullmatch(name) or name in RESERVED:
        raise InvalidValueError(
            f"backup_path {name[:100]!r}: expected a file name of at most 200 letters, digits, '.', '-' and '_' that "
            f"does not begin with '.' or '-' and is none of {', '.join(sorted(RESERVED))}"
        )
    return data / name
