"""The rows of `bench compiler --on scienceworld`: one frozen executor, attempts at other variations compiled."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.alfworld.command import Setting
from benchmarks.alfworld.compiled_aid import CompiledSetting
from benchmarks.alfworld.games import Game
from benchmarks.compiler_variants import EMPTY_M, NONE, OF_COMPILERS, STATIC, row_of
from benchmarks.model_figures import llm_config
from benchmarks.scienceworld.lesson import TASKS, lessons
from benchmarks.scienceworld.play import play_lessons, write_solutions
from memory_node.context.config import CompilerConfig
from memory_node.domain.errors import InvalidValueError

SCIENCEWORLD_VARIANTS = (NONE, STATIC, *OF_COMPILERS)
# The others compile skills, and a lesson is played with commands.
COMPILERS = ("rules",)
_WITHOUT_ATTEMPTS = frozenset({NONE, EMPTY_M})


def rows_of_scienceworld(
    args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig
) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as soon as it is measured.

    Raises:
        InvalidValueError: a compiler is not there, rows with M are asked for without attempts, or a line of these is
            no transcript.
        ResourceMissingError: the engine or Java is not installed.
    """
    if others := sorted(set(args.compilers) - set(COMPILERS)):
        raise InvalidValueError(
            f"--on scienceworld has the compilers {', '.join(COMPILERS)}, got {', '.join(others)}: these compile "
            "skills, and lessons are played with commands"
        )
    lacking = [variant for variant in variants if variant not in _WITHOUT_ATTEMPTS]
    if lacking and args.attempts is None:
        raise InvalidValueError(
            f"the rows {', '.join(lacking)} need --attempts FILE: transcripts; if FILE does not exist, the engine's "
            "solutions of train variations are written to it"
        )
    if lacking and not args.attempts.exists():
        print(f"writing the engine's solutions of train variations to {args.attempts}", file=sys.stderr)
        write_solutions(args.attempts)
    games, model = judged_lessons(args.limit), llm_config(args)
    for variant in variants:
        for compiler in args.compilers if variant in OF_COMPILERS else (NONE,):
            compiled = CompiledSetting(variant, compiler, config, args.attempts, args.seed) if variant != NONE else None
            setting = Setting("executor", args.max_steps, model, compiled=compiled)
            done = play_lessons(games, setting, args.jobs)
            yield row_of(variant, compiler, [one.game for one in done], [one.score for one in done])


def judged_lessons(limit: int) -> list[Game]:
    """Return so many lessons of the variations `dev`: the first of each task, then the second, and so on."""
    each = math.ceil(limit / len(TASKS))
    of_task: dict[str, list[Game]] = {task: [] for task in TASKS}
    for game in lessons(TASKS, "dev", each):
        of_task[game.task_type].append(game)
    in_turn = (games[number] for number in range(each) for games in of_task.values() if number < len(games))
    return list(in_turn)[:limit]
