"""`memory-node bench alfworld`: instructions carried out in ALFWorld's text games."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alfworld.compiled import CompiledSetting, compiled_aids
from benchmarks.alfworld.engine import PddlEngine, require_engine
from benchmarks.alfworld.games import Game, load_games
from benchmarks.alfworld.learnt import Carried, Learnt
from benchmarks.alfworld.play import GameEngine, PlayedGame, Player, for_text_games
from benchmarks.alfworld.policy import (
    PolicyPlayer,
    TranscriptFile,
    habits_at_first,
    random_policy,
    with_shipped_adapter,
)
from benchmarks.alfworld.workers import Workers
from benchmarks.likelihood import scoring_model
from benchmarks.model_figures import add_planner_arguments, llm_config
from benchmarks.ranking.choosing import RankedChoice, StepChooser, WrittenChoice
from benchmarks.ranking.ranked_planner import BY_CHANCE, CHANCE, SEEDS, RandomChoice, RankedPlanner
from benchmarks.rows import cumulative_success, emit, shuffled
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.agent.agent_planner import AgentPlanner
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import LlmConfig
from memory_node.planner.reading.understanding import Understander
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

ALL = "all"


def rows_of(orders: Sequence[Sequence[PlayedGame]], planner: str = "offline") -> list[dict[str, Any]]:
    """Return the rows of one or several passes over the same games; a game that was lost is a failure."""
    types = sorted({game.task_type for games in orders for game in games})
    return [
        {"planner": planner}
        | _row(name, [[game for game in games if name in (ALL, game.task_type)] for games in orders])
        for name in (*types, ALL)
    ]


def _row(name: str, orders: Sequence[Sequence[PlayedGame]]) -> dict[str, Any]:
    games = [game for order in orders for game in order]
    played = [game for game in games if not game.lost]
    steps = [game.steps for game in played] or [0]
    step_ms = [ms for game in played for ms in game.step_ms]
    return {
        "task_type": name,
        "games": len(games),
        "lost": len(games) - len(played),
        "success_rate": round(sum(game.won for game in games) / max(len(games), 1), 4),
        "steps_mean": round(statistics.fmean(steps), 2),
        "steps_p95": round(float(np.percentile(steps, 95)), 1),
        "searches_mean": round(statistics.fmean([game.searched for game in played] or [0]), 2),
        "prompt_tokens_mean": round(statistics.fmean([game.prompt_tokens for game in played] or [0]), 1),
        "ms_per_step_p50": round(statistics.median(step_ms), 2) if step_ms else 0.0,
        "cumulative_success": cumulative_success([[game.won for game in order] for order in orders]),
    }


# Those led by a language model.
BY_MODEL = ("llm", "executor", "react")
PLANNERS = ("offline", *BY_MODEL, *BY_CHANCE)
MEMORIES = ("none", "places", "full", "static", "compiled")
# Planners that read memory in a prompt; others ask it at each step, and chance knows nothing of other games.
_IN_PROMPT = ("executor", "react")
_MEMORIES_OF = {
    **dict.fromkeys(("offline", "llm"), ("none", "places", "full")),
    **dict.fromkeys(_IN_PROMPT, ("none", "static", "compiled")),
    **dict.fromkeys(BY_CHANCE, ("none",)),
}
# An engine that needs longer for one game hangs: the largest game takes 20 s on an idle core, and ten times that where
# others work on it, too.
LONGEST_GAME_S = 300.0
# With a language model: the engine's time, and so much of each command's deadline as a slow model takes.
LONGEST_WITH_MODEL_S = 1800.0
_JOBS = 2


@dataclass(frozen=True)
class Setting:
    """What every game of a run shares. compiled: how memory is compiled for a policy; None: it is not. seed: of what
    chance draws."""

    planner: str
    max_steps: int
    model: LlmConfig
    compiled: CompiledSetting | None = None
    seed: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--games", type=Path, required=True, metavar="FILE|DIR", help="a split: .tar.xz, or a folder")
    parser.add_argument("--planner", choices=PLANNERS, default="offline")
    parser.add_argument(
        "--memory",
        choices=MEMORIES,
        default="none",
        help="what is known from games before; places: only where things are",
    )
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="memory learnt before")
    parser.add_argument(
        "--attempts", type=Path, metavar="FILE", help="with --memory compiled: transcripts of games to remember"
    )
    parser.add_argument("--learn", action="store_true", help="keep learning from game to game, into --from's file")
    parser.add_argument("--limit", type=int, default=0, help="play a sample of this many games (default: all)")
    parser.add_argument("--orders", type=int, default=1, help="passes over the games, each in its own order")
    parser.add_argument("--max-steps", type=int, default=50, help="commands in a game (default 50)")
    parser.add_argument("--jobs", type=int, default=_JOBS, help=f"games side by side (default {_JOBS})")
    parser.add_argument("--transcripts", type=Path, metavar="FILE", help="write what was said in each game, JSON lines")
    add_planner_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    if min(args.orders, args.max_steps, args.jobs) < 1 or args.limit < 0:
        raise InvalidValueError("--orders, --max-steps and --jobs: expected positive numbers; --limit: or 0")
    require_engine()
    games = load_games(args.games, args.limit, args.seed)
    compiled = CompiledSetting(attempts=args.attempts, seed=args.seed) if args.memory == "compiled" else None
    model = llm_config(args)
    if args.planner == "executor":
        model = with_shipped_adapter(model)
    setting = Setting(args.planner, args.max_steps, model, compiled, args.seed)
    if args.memory not in _MEMORIES_OF[args.planner]:
        raise InvalidValueError(f"--planner {args.planner} has --memory {' or '.join(_MEMORIES_OF[args.planner])}")
    if args.memory == "none" and (args.learn or args.memory_file):
        raise InvalidValueError("--from and --learn are about what is known from games before: --memory full or places")
    if args.attempts and compiled is None:
        raise InvalidValueError("--attempts is what --memory compiled remembers")
    ordered = [list(games), *(shuffled(games, args.seed, number) for number in range(1, args.orders))]
    with TranscriptFile(args.transcripts) as transcripts, _learnt(args) as learnt:
        for name in (args.planner, *(BY_CHANCE if args.planner in BY_MODEL else ())):
            kept = (learnt, transcripts) if name == args.planner else (None, TranscriptFile(None))
            orders = ordered * (SEEDS if name in BY_CHANCE else 1)
            emit(rows_of(play_all(orders, replace(setting, planner=name), args.jobs, *kept), name), args.json)
    return 0


def _learnt(args: argparse.Namespace) -> AbstractContextManager[Learnt | None]:
    if args.memory == "none":
        return nullcontext()
    embedder = CachingEmbedder(MiniLmEmbedder()) if args.memory == "full" else None
    return Learnt(args.memory_file, args.learn, embedder)


def play_all(
    orders: Sequence[Sequence[Game]],
    setting: Setting,
    jobs: int,
    learnt: Learnt | None,
    transcripts: TranscriptFile,
    begin: Callable[[], Any] | None = None,
) -> list[list[PlayedGame]]:
    """Play the games of each order, `jobs` side by side, and return them in their order.

    A game knows what those before it taught, but for the last few that are played beside it. By chance each order is
    drawn anew. learnt: None for robots
    that know nothing of other games, nor what the label space says of where things usually are. begin: is called in
    each process and returns what plays there; None: what the setting says.
    """
    played: list[list[PlayedGame]] = []
    limit_s = LONGEST_WITH_MODEL_S if setting.planner in BY_MODEL else LONGEST_GAME_S
    with progress_bar() as bar, Workers(begin or partial(_player, setting), jobs, limit_s) as workers:
        for number, games in enumerate(orders):
            task: Any = bar.add_task(f"order {number + 1}", total=len(games))
            stream: list[PlayedGame] = []
            for game, outcome in zip(games, workers.run(len(games), partial(_piece, games, learnt, setting, number))):
                stream.append(outcome.done or PlayedGame(game.name, game.task_type, lost=outcome.lost))
                if learnt is not None:
                    learnt.add(stream[-1].taught, stream[-1].episodes)
                transcripts.add(stream[-1])
                if outcome.lost:
                    print(f"{game.name}: lost: {outcome.lost}", file=sys.stderr)
                bar.advance(task)
            played.append(stream)
    return played


def _player(setting: Setting) -> Any:
    """Return what plays a game in a process of its own."""
    kinds = for_text_games(load_catalogue())
    if setting.planner in BY_CHANCE:
        drawn = player_by_chance(setting.planner, setting.max_steps)
        return lambda piece: drawn(*piece)
    if setting.planner in _IN_PROMPT:
        chooser, aid = chooser_of(setting), habits_at_first(kinds)
        if setting.compiled is not None:
            aid = compiled_aids(setting.compiled, kinds, CachingEmbedder(MiniLmEmbedder()), setting.max_steps)
        policy = PolicyPlayer(chooser, setting.max_steps, setting.model.timeout_s, aid)
        return lambda piece: policy.play(*piece)
    embedder = CachingEmbedder(MiniLmEmbedder())
    planner_of: Callable[[ObjectCatalogue], Planner] = partial(offline_planner, embedder)
    if setting.planner == "llm":
        planner_of = partial(llm_planner, embedder, setting.model)
    player = Player(kinds, embedder, planner_of, setting.max_steps)
    return lambda piece: player.play(*piece)


def player_by_chance(
    planner: str, max_steps: int, engine_of: Callable[[Game], GameEngine] = PddlEngine
) -> Callable[[Game, str], PlayedGame]:
    """Return what plays by chance, given a game and a seed: among the commands that a game offers, or among the skills
    that the product's world model values, as in homes."""
    if planner == CHANCE:
        return random_policy(max_steps, engine_of)
    kinds, embedder = for_text_games(load_catalogue()), CachingEmbedder(MiniLmEmbedder())

    def play(game: Game, seed: str) -> PlayedGame:
        chooser = RandomChoice(f"{seed} {game.name}")

        def planner_of(known: ObjectCatalogue) -> Planner:
            return RankedPlanner(offline_planner(embedder, known), known, LlmConfig(), chooser)

        return Player(kinds, embedder, planner_of, max_steps, engine_of).play(game)

    return play


def chooser_of(setting: Setting) -> StepChooser:
    """Return what chooses commands: by likelihood, or by a thought and a command that are written.

    Raises:
        InvalidValueError: likelihoods are asked of a model that tells none.
    """
    model = ModelShelf().open(setting.model)
    if setting.planner == "react":
        return WrittenChoice(model, setting.model.max_repairs, lambda error: f"{error} Answer again.")
    return RankedChoice(scoring_model(model, "--planner executor"))


def llm_planner(embedder: TextEmbedder, config: LlmConfig, kinds: ObjectCatalogue) -> Planner:
    """Return the planner that a language model leads."""
    offline = offline_planner(embedder, kinds)
    return AgentPlanner(ModelShelf().open(config), config, kinds, offline, fallback=False, asks=False)


def _piece(
    games: Sequence[Game], learnt: Learnt | None, setting: Setting, order: int, number: int
) -> tuple[Game, Carried | PlaceCensus | str | None]:
    """Return a game and what it is given: of other games, of which a policy reads places alone, or chance's seed."""
    if setting.planner in BY_CHANCE:
        return games[number], f"{setting.seed} {order}"
    if learnt is None:
        return games[number], None
    return games[number], learnt.census if setting.planner in _IN_PROMPT else learnt.carried


def offline_planner(embedder: TextEmbedder, kinds: ObjectCatalogue) -> OfflinePlanner:
    """Return our planner with the reader of plain commands: nobody is there to be asked, and names are open."""
    return OfflinePlanner(Understander(kinds, None, embedder, asks=False, open_names=True), kinds)
