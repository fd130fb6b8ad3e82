"""Finds the files that ship beside the code: parameters, prompts, homes, interface definitions."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from memory_node.domain.errors import ResourceMissingError

_PACKAGE = Path(__file__).resolve().parents[1]
_READERS = "robot_memory_readers"
MISSING_READERS = (
    "the weights of the trained readers are not installed (pip install ./readers in a checkout; on a robot "
    "scripts/install_libraries readers)"
)


def share_folders() -> list[Path]:
    """Return the folders that may hold our share files: checkout, pip package, ament share, in this order."""
    folders = [_PACKAGE.parent] if (_PACKAGE.parent / "package.xml").is_file() else []
    folders.append(_PACKAGE / "_share")
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    folders += [Path(prefix) / "share" / "robot_memory" for prefix in prefixes if prefix]
    return [folder for folder in folders if folder.is_dir()]


def resource_path(relative: str) -> Path:
    """Return the path of a shipped file or folder such as `config/memory.yaml`.

    Raises:
        ResourceMissingError: no share folder has it.
    """
    for folder in share_folders():
        if (folder / relative).exists():
            return folder / relative
    looked = ", ".join(str(folder) for folder in share_folders()) or "no share folder at all"
    raise ResourceMissingError(f"{relative} is not installed (looked in {looked}); install the package again")


def readers_folder() -> Path:
    """Return the folder for the weights of the trained readers: of the distribution `readers/`, or the checkout's.

    The folder need not be there: the weights are an extra, `MISSING_READERS` says how to install them.
    """
    found = importlib.util.find_spec(_READERS)
    if found is not None and found.submodule_search_locations:
        return Path(found.submodule_search_locations[0])
    return _PACKAGE.parent / "readers" / "src" / _READERS
