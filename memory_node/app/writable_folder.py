"""Whether a command will be able to write what it makes; asked before the work begins."""

from __future__ import annotations

import tempfile
from pathlib import Path

from memory_node.domain.errors import InvalidValueError


def require_writable(folder: Path, option: str, named: Path | None = None) -> None:
    """Make a folder if it is missing, and try to write there.

    option: the command line's option that names it. named: what the user named, where that is a file in the folder.

    Raises:
        InvalidValueError: nothing can be written there; the message names the option and says why.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        what = "folder" if named is None else "file"
        why = f"nothing can be written there ({error.strerror}); name another {what}"
        raise InvalidValueError(f"{option} {named or folder}: {why}") from None
