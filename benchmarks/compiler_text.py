"""The rows of `bench compiler` on text games and lessons: one frozen executor, memory compiled in several ways."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.alfworld.command import Setting, play_all
from benchmarks.alfworld.compiled import CompiledSetting
from benchmarks.alfworld.engine import require_engine
from benchmarks.alfworld.games import Game, load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.policy import TranscriptFile, with_shipped_adapter
from benchmarks.compiler_variants import EMPTY_M, FULL, NONE, OF_COMPILERS, STATIC, WITH_LATENT, row_of, rows_asked
from benchmarks.model_figures import llm_config
from benchmarks.ranking.ranked_planner import BY_CHANCE, SEEDS
from benchmarks.scienceworld.lesson import TASKS, lesson_player, lessons, write_solutions
from benchmarks.stream.alfworld import progress_of
from memory_node.context.config import CompilerConfig
from memory_node.domain.errors import InvalidValueError

SCIENCEWORLD_VARIANTS = (NONE, STATIC, *OF_COMPILERS, *BY_CHANCE)
ALFWORLD_VARIANTS = (*SCIENCEWORLD_VARIANTS, *WITH_LATENT)
# The others compile skills, and a lesson is played with commands.
SCIENCEWORLD_COMPILERS = ("rules",)
_WITHOUT_ATTEMPTS = frozenset({NONE, EMPTY_M, *BY_CHANCE})


@dataclass(frozen=True)
class Row:
    """What one row is made with. compiler: "none" where nothing is compiled. soft_memory: of the latent tokens."""

    variant: str
    compiler: str
    soft_memory: Path | None = None

    @property
    def name(self) -> str:
        """The variant; of several soft memories each by the name of its file."""
        return self.soft_memory.stem if self.soft_memory is not None and self.variant == FULL else self.variant

    def setting(self, args: argparse.Namespace, model: Any, config: CompilerConfig) -> Setting:
        """Return how the games of the row are played; without memory nothing is compiled."""
        planner = self.variant if self.variant in BY_CHANCE else "executor"
        plain = Setting(planner, args.max_steps, model, seed=args.seed)
        if self.variant in (NONE, *BY_CHANCE):
            return plain
        if self.soft_memory is not None:
            config = config.changed(llm=config.llm.changed(soft_memory_path=str(self.soft_memory)))
        who = "rules" if self.compiler == "none" else self.compiler
        compiled = CompiledSetting(self.variant, who, config, args.attempts, args.seed)
        return replace(plain, compiled=compiled)


def text_rows(variants: Sequence[str], compilers: Sequence[str], soft_memories: Sequence[Path]) -> Iterator[Row]:
    """Yield the rows of some variants: one for each compiler, or for each soft memory of the learned one."""
    for variant, name in rows_asked(variants, compilers):
        if variant in WITH_LATENT:
            yield from (Row(variant, "learned", path) for path in soft_memories)
        else:
            yield Row(variant, name)


def rows_of_alfworld(
    args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig
) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as soon as it is measured.

    Raises:
        InvalidValueError: the games are not named.
        ResourceMissingError: the engine is not installed.
        NotFoundError: a file is not there.
    """
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games")
    require_engine()
    games = load_games(args.games, args.limit, args.seed)
    model = with_shipped_adapter(llm_config(args))
    with Learnt(args.memory_file, learns=False) as learnt:
        yield from _rows(args, variants, config, model, games, learnt)


def rows_of_scienceworld(
    args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig
) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as soon as it is measured.

    Raises:
        InvalidValueError: a compiler is not there, rows with M are asked for without attempts, or a line of these is
            no transcript.
        ResourceMissingError: the engine or Java is not installed.
    """
    if others := sorted(set(args.compilers) - set(SCIENCEWORLD_COMPILERS)):
        raise InvalidValueError(
            f"--on scienceworld has the compilers {', '.join(SCIENCEWORLD_COMPILERS)}, got {', '.join(others)}: these "
            "compile skills, and lessons are played with commands"
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
    yield from _rows(args, variants, config, model, games, None, lesson_player)


def _rows(
    args: argparse.Namespace,
    variants: Sequence[str],
    config: CompilerConfig,
    model: Any,
    games: Sequence[Game],
    learnt: Learnt | None,
    begin: Callable[[Setting], Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the rows. begin: see play_all."""
    for row in text_rows(variants, args.compilers, args.soft_memory or ()):
        setting = row.setting(args, model, config)
        known = learnt if setting.compiled is not None else None
        player = partial(begin, setting) if begin is not None else None
        times = SEEDS if row.variant in BY_CHANCE else 1
        orders = play_all([games] * times, setting, args.jobs, known, TranscriptFile(None), player)
        played = [game for order in orders for game in order]
        # An engine that scores has no score for a lesson that was lost: nothing of it was done.
        scores = [game.score or 0.0 for game in played]
        progress = scores if begin is not None else [progress_of(game) for game in played if not game.lost]
        yield row_of(row.name, row.compiler, played, progress, times)


def judged_lessons(limit: int) -> list[Game]:
    """Return so many lessons of the variations `dev`: the first of each task, then the second, and so on."""
    found = lessons(TASKS, "dev", math.ceil(limit / len(TASKS)))
    turns = zip_longest(*([game for game in found if game.task_type == task] for task in TASKS))
    return [game for turn in turns for game in turn if game is not None][:limit]
