"""What was said in games, as JSON lines: {"task", "text", "turns": [[command, reply]], "won"}; no game is named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.alfworld.play import PlayedGame
from benchmarks.rows import read_rows


class TranscriptFile:
    """Writes games as they end: an interrupted run keeps those that were played.

    path: None for no file.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("w", encoding="utf-8") if path else None

    def __enter__(self) -> TranscriptFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def add(self, game: PlayedGame) -> None:
        """Write a game that was played; a game that was lost has said nothing."""
        if self._file and not game.lost:
            row = {"task": game.task, "text": game.text, "turns": game.transcript, "won": game.won}
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()


def read_transcripts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: a line is no transcript; the message names it.
    """
    return read_rows(path, "transcript", _transcript)


def as_one_text(transcript: Mapping[str, Any]) -> str:
    """Return the task of a row, and all that was sent and printed, in order."""
    said = " ".join(f"> {command}: {' '.join(reply.split())}" for command, reply in transcript["turns"])
    return f"{transcript['task']} {said}"


def _transcript(row: Mapping[str, Any]) -> dict[str, Any]:
    turns = [(str(command), str(reply)) for command, reply in row["turns"]]
    return {"task": str(row["task"]), "text": str(row["text"]), "turns": turns, "won": bool(row["won"])}
