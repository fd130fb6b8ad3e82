"""`memory-node bench scienceworld`: lessons in a second text world, by a language model."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.alfworld.aid import OpenAid, without_games
from benchmarks.alfworld.command import Setting, chooser_of
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import PlayedGame
from benchmarks.alfworld.policy import PolicyPlayer
from benchmarks.alfworld.transcripts import TranscriptFile
from benchmarks.alfworld.workers import Workers
from benchmarks.model_figures import add_planner_arguments, llm_config
from benchmarks.rows import emit
from benchmarks.scienceworld.compiled_lesson import lesson_aids
from benchmarks.scienceworld.done_lesson import DoneLesson
from benchmarks.scienceworld.lesson import SPLITS, TASKS, Lesson, lessons
from benchmarks.scienceworld.skill_player import SkillPlayer
from benchmarks.scienceworld.solutions import SOLUTION, play_solution, require_train
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.language.understanding import Understander
from memory_node.planner.llm_planner import LlmPlanner
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import LlmConfig
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

HELP = "science lessons in a second text world, by a language model"
ALL = "all"
# Ranking asks for the likelihood of each of some hundred commands, which a small model does in seconds.
PLANNERS = ("react", "executor", "llm", SOLUTION)
_LONGEST_LESSON_S = 1800.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--planner", choices=PLANNERS, default="react")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), metavar="NAME", help="default: ten kinds")
    parser.add_argument("--split", choices=SPLITS, default="dev", help="of the variations (default dev)")
    parser.add_argument("--each", type=int, default=3, help="variations of each task at most (default 3)")
    parser.add_argument("--max-steps", type=int, default=30, help="commands in a lesson (default 30)")
    parser.add_argument("--jobs", type=int, default=1, help="lessons side by side (default 1)")
    parser.add_argument("--trials", action="store_true", help="print every lesson's commands to standard error")
    parser.add_argument(
        "--transcripts", type=Path, metavar="FILE", help="write what was said in each lesson, JSON lines"
    )
    add_planner_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status.

    Raises:
        InvalidValueError: there is no such task, or solutions are asked of what is judged.
    """
    if args.planner == SOLUTION:
        require_train(args.split)
    setting = Setting(args.planner, args.max_steps, llm_config(args), args.trials)
    games = lessons(args.tasks, args.split, args.each)
    with TranscriptFile(args.transcripts) as transcripts:
        done = play_lessons(games, setting, args.jobs, transcripts)
    emit(rows_of(done), args.json)
    return 0


def play_lessons(games: Sequence[Game], setting: Setting, jobs: int, transcripts: TranscriptFile) -> list[DoneLesson]:
    """Play lessons, `jobs` side by side, and return them in their order."""
    done = []
    with progress_bar() as bar, Workers(partial(_player, setting), jobs, _LONGEST_LESSON_S) as workers:
        task: Any = bar.add_task("lessons", total=len(games))
        for game, outcome in zip(games, workers.run(len(games), games.__getitem__)):
            done.append(outcome.done or DoneLesson(PlayedGame(game.name, game.task_type, lost=outcome.lost)))
            transcripts.add(done[-1].game)
            _tell(done[-1], setting.trials)
            bar.advance(task)
    return done


def rows_of(done: Sequence[DoneLesson]) -> list[dict[str, Any]]:
    """Return a row for each task and one for all; a lesson that was lost scores 0."""
    tasks = sorted({lesson.game.task_type for lesson in done})
    return [_row(task, [one for one in done if task in (ALL, one.game.task_type)]) for task in (*tasks, ALL)]


def _row(task: str, done: Sequence[DoneLesson]) -> dict[str, Any]:
    played = [one.game for one in done if not one.game.lost]
    step_ms = [ms for game in played for ms in game.step_ms]
    return {
        "task": task,
        "lessons": len(done),
        "lost": len(done) - len(played),
        "success_rate": round(sum(one.game.won for one in done) / max(len(done), 1), 4),
        "score_mean": round(statistics.fmean([one.score for one in done] or [0.0]), 4),
        "steps_mean": round(statistics.fmean([game.steps for game in played] or [0]), 2),
        "prompt_tokens_mean": round(statistics.fmean([game.prompt_tokens for game in played] or [0]), 1),
        "ms_per_step_p50": round(statistics.median(step_ms), 1) if step_ms else 0.0,
    }


def _player(setting: Setting) -> Callable[[Game], DoneLesson]:
    """Return what plays a lesson in a process of its own."""
    if setting.planner == SOLUTION:
        return play_solution
    if setting.planner != "llm":
        aid_of: OpenAid = without_games
        if setting.compiled is not None:
            aid_of = lesson_aids(setting.compiled, CachingEmbedder(MiniLmEmbedder()))
        return LessonPlayer(chooser_of(setting), setting, aid_of=aid_of).play
    embedder = CachingEmbedder(MiniLmEmbedder())
    player = SkillPlayer(
        partial(lesson_planner, embedder, setting.model), load_catalogue(), embedder, setting.max_steps
    )
    return lambda game: DoneLesson(*player.play(game))


def lesson_planner(embedder: TextEmbedder, config: LlmConfig, kinds: ObjectCatalogue) -> Planner:
    """Return the product's planner with a language model. The model says the goals, because no reader of ours follows a
    lesson's task."""
    offline = OfflinePlanner(Understander(kinds, None, embedder, asks=False), kinds)
    model = ModelShelf().open(config)
    return LlmPlanner(model, config, kinds, offline, fallback=False, open_names=True, asks=False)


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


def _tell(done: DoneLesson, in_full: bool) -> None:
    game = done.game
    if game.lost:
        print(f"{game.name}: lost: {game.lost}", file=sys.stderr)
    elif in_full:
        print(f"{done.score:4.2f} {game.steps:3d} steps  {game.name}: {game.task}", file=sys.stderr)
        goals = f"goals: {'; '.join(game.goals)}" if game.goals else ""
        for line in filter(None, (goals, game.failure, *game.trail)):
            print(f"     {line[:300]}", file=sys.stderr)
