"""Finds the libraries that scripts/install_libraries installed: for our programs, and for a user's own that imports us.

The user's environment knows nothing of them: other programs keep the libraries that they have.
"""

from __future__ import annotations

import os
import site
import sys
from importlib.machinery import PathFinder
from importlib.metadata import distributions
from pathlib import Path

# Written by scripts/library_bounds: a line a module, with its distribution and the lowest version that we need.
BOUNDS = "bounds.txt"


def use_libraries() -> None:
    """Let this process find the libraries: behind PYTHONPATH (ROS and workspaces), before the system's packages.

    What the process has imported already stays. An isolated virtual environment has libraries of its own, and nothing
    changes there.

    Raises:
        ImportError: what was imported, or what PYTHONPATH brings, is too old for us.
    """
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    root = Path(os.environ.get("ROBOT_MEMORY_LIBRARIES") or data / "robot_memory" / "libraries")
    folder = root / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    if not folder.is_dir():
        return
    if str(folder) not in sys.path:
        system = {site.getusersitepackages(), *site.getsitepackages([sys.base_prefix, sys.base_exec_prefix])}
        places = [place for place, entry in enumerate(sys.path) if entry in system]
        if not places:
            return
        sys.path.insert(places[0], str(folder))
    if (root / BOUNDS).is_file():
        for line in (root / BOUNDS).read_text(encoding="utf-8").splitlines():
            module, distribution, lowest = line.split()
            _check(module, distribution, lowest, folder)


def _check(module: str, distribution: str, lowest: str, folder: Path) -> None:
    """Raise ImportError if the module that an import gives is of an older version."""
    imported = sys.modules.get(module)
    spec = None if imported is not None else PathFinder.find_spec(module)
    file = getattr(imported, "__file__", None) if spec is None else spec.origin
    if file is None or Path(file).is_relative_to(folder):
        return
    where = Path(file).parent.parent if Path(file).stem == "__init__" else Path(file).parent
    version = next((found.version for found in distributions(name=distribution, path=[str(where)])), None)
    if version is None or _numbers(version) >= _numbers(lowest):
        return
    remedy = "import memory_node before it" if imported is not None else "take it off PYTHONPATH, or update it"
    how = "has already imported" if imported is not None else "finds first"
    raise ImportError(
        f"robot_memory needs {distribution} {lowest}, but this process {how} {version} of {where}: {remedy}"
    )


def _numbers(version: str) -> list[int]:
    """Return the numbers that a version begins with; what follows them (rc1, .post2) is not compared."""
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        numbers += [int(digits)] if digits else []
        if digits != part:
            break
    return numbers
