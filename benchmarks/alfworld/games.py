"""The games of a split: files `game.tw-pddl` in a folder or a packed archive."""

from __future__ import annotations

import lzma
import random
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmarks.alfworld.sentences import read_task
from memory_node.domain.errors import InvalidValueError, NotFoundError

_FILE = "game.tw-pddl"
_MOST_BYTES = 50_000_000  # a game has some hundred kilobytes
# What the first text says of the task, as the file's grammar holds it.
_TASK_TEXT = re.compile(r"Your task is to:[^\"\\]+")


@dataclass(frozen=True)
class Game:
    """One game. name: its path in the split; task_type: as its folder begins, for the row's name alone; content: the
    file, unread."""

    name: str
    task_type: str
    content: bytes


def task_of(game: Game) -> str:
    """Return the task that a game's first text names, "" where the file has none: the engine refuses such a file."""
    found = _TASK_TEXT.search(game.content.decode(errors="replace"))
    return read_task(found[0]) if found else ""


def load_games(path: Path, limit: int = 0, seed: int = 0) -> list[Game]:
    """Return the games of a folder or a tar archive by name; with `limit` a sample of so many, in random order.

    Raises:
        NotFoundError: there is no such file or folder, or no game in it.
        InvalidValueError: the archive is damaged, or holds a game that is too large.
    """
    if not path.exists():
        raise NotFoundError(f"there is no file or folder {path}")
    games = sorted(_of_folder(path) if path.is_dir() else _of_archive(path), key=lambda game: game.name)
    if not games:
        raise NotFoundError(f"no {_FILE} in {path}")
    if 0 < limit < len(games):
        games = random.Random(seed).sample(games, limit)
    return games


def _of_folder(path: Path) -> Iterator[Game]:
    for file in path.rglob(_FILE):
        name = file.relative_to(path).as_posix()
        if file.stat().st_size > _MOST_BYTES:
            raise InvalidValueError(f"{file}: larger than {_MOST_BYTES} bytes")
        yield Game(name, _task_type(name if "/" in name else f"{path.name}/{name}"), file.read_bytes())


def _of_archive(path: Path) -> Iterator[Game]:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if not member.isfile() or PurePosixPath(member.name).name != _FILE:
                    continue
                if member.size > _MOST_BYTES:
                    raise InvalidValueError(f"{path}: {member.name} is larger than {_MOST_BYTES} bytes")
                file = archive.extractfile(member)
                assert file is not None, "a regular member has content"
                yield Game(member.name, _task_type(member.name), file.read())
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise InvalidValueError(f"{path}: {error}") from error


def _task_type(name: str) -> str:
    """Return what the folder above the trial's says before the first dash."""
    folders = PurePosixPath(name).parts[:-1]
    folder = folders[-2] if len(folders) > 1 else folders[-1] if folders else ""
    return folder.partition("-")[0] or "unknown"
