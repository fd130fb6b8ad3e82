"""`memory-node train grpo`: reinforces a compiler, in words or with a soft memory, by a frozen executor's success."""

from __future__ import annotations

import argparse
import contextlib
import random
import shlex
import sys
import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.alfworld.engine import require_engine
from benchmarks.alfworld.games import Game, load_games, task_of
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.policy import ADAPTER, read_transcripts
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.adapters.command import NEEDED, add_model_argument
from training.robot_tasks import add_task_arguments, open_tasks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--on", choices=("alfworld", "household", "life"), default="alfworld", help="whose success counts"
    )
    parser.add_argument("--games", type=Path, metavar="FILE|DIR", help="alfworld: train games")
    add_task_arguments(parser)
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="memory learnt before")
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="transcripts of games to remember")
    parser.add_argument("--compiler", type=Path, metavar="FILE", help="adapter (default: an untrained one)")
    parser.add_argument(
        "--soft", type=Path, metavar="FILE", help="soft memory of `train softmem`, which learns, too (default: none)"
    )
    parser.add_argument("--executor", type=Path, metavar="FILE", help="alfworld: adapter (default: the shipped)")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint and curve")
    add_model_argument(parser)
    parser.add_argument("--rank", type=int, default=8, help="of the adapters' matrices (default 8)")
    parser.add_argument("--limit", type=int, default=0, help="of games or tasks (default: all)")
    parser.add_argument("--updates", type=int, default=500)
    parser.add_argument("--tasks-per-update", type=int, default=4, help="default 4")
    parser.add_argument("--rollouts", type=int, default=4, help="of a task (default 4)")
    parser.add_argument("--rate", type=float, default=1e-6, help="learning rate (default 1e-6)")
    parser.add_argument("--max-steps", type=int, default=15, help="commands in a game (default 15)")
    parser.add_argument("--chooses", action="store_true", help="the compiler chooses by numbers (default: JSON)")
    parser.add_argument("--reply-tokens", type=int, default=512, help="of a compiler's reply at most (default 512)")
    parser.add_argument(
        "--held-out",
        type=int,
        default=60,
        help="games of other tasks that are played greedily before and after (default 60)",
    )
    parser.add_argument(
        "--through-prompt",
        action="store_true",
        help="take gradients where the compiler reads its prompt, too, not only where it writes (three times as slow)",
    )
    parser.add_argument("--minutes", type=float, default=110.0, help="after which it ends early (default 110)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Reinforce, and write adapter, soft memory, curve and card; return the exit status.

    Raises:
        ResourceMissingError: the extra `learning` or `alfworld` is not installed.
        InvalidValueError: a file does not fit.
    """
    try:
        from training.adapters.adapter import save_adapter
        from training.adapters.processes import begin, is_first, tell
        from training.grpo.learning import GrpoSchedule, reinforce
        from training.grpo.report import write_report
        from training.grpo.run import HeldOut
    except ImportError as error:
        raise ResourceMissingError(f"{NEEDED} ({error})") from error
    command = f"memory-node {shlex.join(sys.argv[1:])}"  # the engine's planner puts words of its own there
    begin(args.seed, args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    schedule = GrpoSchedule(args.updates, args.tasks_per_update, args.rollouts, args.rate, seed=args.seed)
    began = time.monotonic()
    curve = None
    try:
        with (_game_course if args.on == "alfworld" else _robot_course)(args, schedule) as course:
            run, play = course.run, course.run.rollouts
            before = HeldOut.played(play, course.held, args.out / "before.json")
            tell(f"held out, before: {before}")
            models, checkpoint = run.models, args.out / "checkpoint.pt"
            for curve in reinforce(
                run.pair,
                lambda task, number, seed: play(course.taught[task], number, seed),
                len(course.taught),
                schedule,
                checkpoint,
                models.writer.allowed,
                models.renew,
            ):
                tell(f"update {curve.updates}: {curve.rewards[-1]:.3f} right")
                if time.monotonic() - began > 60.0 * args.minutes:
                    break
            after = HeldOut.played(play, course.held, None)
            tell(f"held out, after: {after}")
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    if is_first() and curve is not None:
        save_adapter(run.pair.compiler, run.base.adapter_path(args.out, "compiler"))
        write_report(args.out, command, schedule, curve, before, after, run.pair)
        print(args.out)
    return 0


@dataclass(frozen=True)
class _Course:
    """run: the models and what they play. taught: numbers of tasks to learn from. held: what is played before and
    after: games, or numbers of tasks."""

    run: Any
    taught: Sequence[int]
    held: Sequence[Any]


@contextlib.contextmanager
def _game_course(args: argparse.Namespace, schedule: Any) -> Iterator[_Course]:
    from training.grpo.run import opened

    require_engine()
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games")
    attempts = read_transcripts(args.attempts) if args.attempts is not None else ()
    remembered = {attempt["task"] for attempt in attempts}
    held, taught = split_games(load_games(args.games), remembered, args.held_out, args.seed)
    taught = taught[: args.limit or None]
    args.executor = args.executor or ADAPTER
    with Learnt(args.memory_file, learns=False) as learnt:
        yield _Course(opened(args, taught, learnt.census, schedule), range(len(taught)), held)


@contextlib.contextmanager
def _robot_course(args: argparse.Namespace, schedule: Any) -> Iterator[_Course]:
    from training.grpo.run import opened_tasks

    if args.soft is not None:
        raise InvalidValueError("--soft: the offline planner reads no latent tokens; reinforce them --on alfworld")
    with contextlib.closing(open_tasks(args, CachingEmbedder(MiniLmEmbedder()))) as tasks:
        drawn = random.Random(args.seed).sample(range(len(tasks.names)), len(tasks.names))
        held, taught = drawn[: args.held_out], drawn[args.held_out :]
        if len(held) < args.held_out or not taught:
            raise InvalidValueError(f"{len(drawn)} tasks are too few to hold out {args.held_out} and learn from others")
        yield _Course(opened_tasks(args, tasks, schedule), taught, held)


def split_games(
    games: Sequence[Game], remembered: Container[str], held_out: int, seed: int
) -> tuple[Sequence[Game], Sequence[Game]]:
    """Return games that are held out, of tasks that nobody remembers, and those of other tasks to learn from.

    remembered: tasks, as the games' first texts name them.

    Raises:
        InvalidValueError: there are too few games.
    """
    drawn = random.Random(seed).sample(games, len(games))
    held = [game for game in drawn if task_of(game) not in remembered][:held_out]
    apart = {task_of(game) for game in held}
    taught = [game for game in drawn if task_of(game) not in apart]
    if len(held) < held_out or not taught:
        raise InvalidValueError(
            f"{len(held)} games of tasks that no attempt is about, and {len(taught)} of others to learn from:"
            f" --held-out {held_out} needs more games, or fewer attempts"
        )
    return held, taught
