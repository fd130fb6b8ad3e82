"""Lessons that are played: by a policy with what memory tells it, or as the engine solves them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.alfworld.aid import OpenAid, without_games
from benchmarks.alfworld.command import Setting, chooser_of
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.policy import PolicyPlayer
from benchmarks.alfworld.sentences import read_task
from benchmarks.alfworld.transcripts import TranscriptFile
from benchmarks.alfworld.workers import Workers
from benchmarks.scienceworld.compiled_lesson import lesson_aids
from benchmarks.scienceworld.lesson import TASKS, Lesson, lessons
from memory_node.app.progress import progress_bar
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

_LONGEST_LESSON_S = 1800.0
# The engine's limit: its longest solution has some hundred commands.
_MOST_COMMANDS = 1000
# Of each task: what M is drawn from.
_SOLVED_VARIATIONS = 8


@dataclass(frozen=True)
class DoneLesson:
    """A lesson and the share of it that was done, in [0, 1]."""

    game: PlayedGame
    score: float = 0.0


def play_lessons(games: Sequence[Game], setting: Setting, jobs: int) -> list[DoneLesson]:
    """Play lessons, `jobs` side by side, and return them in their order; one that was lost scores 0."""
    done = []
    with progress_bar() as bar, Workers(partial(_player, setting), jobs, _LONGEST_LESSON_S) as workers:
        task: Any = bar.add_task("lessons", total=len(games))
        for game, outcome in zip(games, workers.run(len(games), games.__getitem__)):
            done.append(outcome.done or DoneLesson(PlayedGame(game.name, game.task_type, lost=outcome.lost)))
            if outcome.lost:
                print(f"{game.name}: lost: {outcome.lost}", file=sys.stderr)
            bar.advance(task)
    return done


def write_solutions(path: Path) -> None:
    """Write the engine's own solutions of `train` variations, on which nothing is judged, as transcripts.

    Raises:
        ResourceMissingError: the engine or Java is not installed.
    """
    games = lessons(TASKS, "train", _SOLVED_VARIATIONS)
    unfinished = path.with_name(f"{path.name}.part")
    with progress_bar() as bar, TranscriptFile(unfinished) as transcripts:
        for game in bar.track(games, description="solutions"):
            transcripts.add(_solved(game))
    unfinished.replace(path)


def _solved(game: Game) -> PlayedGame:
    lesson = Lesson(game, _MOST_COMMANDS, lists_commands=False, solves=True)
    text, said = lesson.text, []
    for command in lesson.solution:
        if lesson.over:
            break
        said.append((command, lesson.send(command)))
    return PlayedGame(
        game.name, game.task_type, read_task(text), lesson.won, len(said), text=text, transcript=tuple(said)
    )


class LessonPlayer:
    """Plays lessons with one model. lesson_of: begins one. aid_of: opens what memory does for it."""

    def __init__(
        self,
        chooser: Any,
        setting: Setting,
        lesson_of: Callable[[Game, int], Any] = Lesson,
        aid_of: OpenAid = without_games,
    ) -> None:
        self._lesson: Any = None
        self._lesson_of = lesson_of
        self._max_steps = setting.max_steps
        timeout_s = setting.model.timeout_s
        self._policy = PolicyPlayer(chooser, setting.max_steps, timeout_s, aid_of, self._begun)

    def play(self, game: Game) -> DoneLesson:
        """Play one lesson."""
        played = self._policy.play(game)
        return DoneLesson(played, self._lesson.score)

    def _begun(self, game: Game) -> Any:
        self._lesson = self._lesson_of(game, self._max_steps)
        return self._lesson


def _player(setting: Setting) -> Callable[[Game], DoneLesson]:
    """Return what plays a lesson in a process of its own."""
    aid_of: OpenAid = without_games
    if setting.compiled is not None:
        aid_of = lesson_aids(setting.compiled, CachingEmbedder(MiniLmEmbedder()))
    return LessonPlayer(chooser_of(setting), setting, aid_of=aid_of).play
