"""Games that were played before: a frozen, greedy executor ends a game in the same way whenever it is told the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.rows import read_rows
from memory_node.lessons.lesson import Lesson


class GameCache:
    """Played games by the game, its executor and the entries that were told.

    A file of JSON lines keeps them from run to run, also what an interrupted run has played. Such a file is of one
    version of the code.

    path: the file, None for this process alone. executor: everything that decides how its games go, in words.

    Raises:
        InvalidValueError: a line of the file is no played game; the message names it.
    """

    def __init__(self, path: Path | None, executor: str) -> None:
        self._path = path
        self._executor = executor
        self._known: dict[str, PlayedGame] = {}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            _drop_broken_end(path)
            self._known.update(read_rows(path, "played game", _read))

    def __len__(self) -> int:
        return len(self._known)

    def find(self, game: Game, shown: Sequence[Lesson]) -> PlayedGame | None:
        """Return how a game went with these entries, None where it was not played with them."""
        return self._known.get(self._key(game, shown))

    def add(self, game: Game, shown: Sequence[Lesson], played: PlayedGame) -> None:
        """Keep how a game went; one that is known is not written again.

        A game in which the model failed, as by its deadline on a busy machine, may go otherwise another time.
        """
        key = self._key(game, shown)
        if key in self._known or played.failure:
            return
        self._known[key] = played
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(_written(key, played)) + "\n")

    def _key(self, game: Game, shown: Sequence[Lesson]) -> str:
        told = [[entry.situation, entry.text] for entry in shown]
        decides = [self._executor, hashlib.sha256(game.content).hexdigest(), told]
        return hashlib.sha256(json.dumps(decides).encode()).hexdigest()


def _drop_broken_end(path: Path) -> None:
    """Cut off the line that an interrupted run has not finished."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)


def _written(key: str, played: PlayedGame) -> dict[str, Any]:
    return {
        "key": key,
        "game": played.name,
        "task_type": played.task_type,
        "task": played.task,
        "won": played.won,
        "steps": played.steps,
        "text": played.text,
        "turns": played.transcript,
    }


def _read(row: Mapping[str, Any]) -> tuple[str, PlayedGame]:
    turns = tuple((str(command), str(reply)) for command, reply in row["turns"])
    return str(row["key"]), PlayedGame(
        str(row["game"]),
        str(row["task_type"]),
        str(row["task"]),
        bool(row["won"]),
        int(row["steps"]),
        text=str(row["text"]),
        transcript=turns,
    )
