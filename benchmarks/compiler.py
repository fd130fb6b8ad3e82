"""`memory-node bench compiler`: the effect of compiling memory at each step, with controls."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.compiler_household import CompilerSetting, rows_of_household
from benchmarks.compiler_text import (
    ALFWORLD_VARIANTS,
    SCIENCEWORLD_COMPILERS,
    SCIENCEWORLD_VARIANTS,
    rows_of_alfworld,
    rows_of_scienceworld,
)
from benchmarks.compiler_variants import NO_FAULTS, NONE, OF_COMPILERS, STATIC, WITH_LATENT
from benchmarks.household_cases import SUITES, load_cases
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.model_figures import add_planner_arguments, llm_config
from benchmarks.ranking.ranked_planner import open_bench_planner
from benchmarks.rows import Row, emit
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.config import CompilerConfig, CompilerModelConfig
from memory_node.domain.errors import RobotMemoryError
from memory_node.llm.command import model_parameters
from memory_node.planner.planner_config import PLANNERS, OfflineConfig, PlannerConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

# Where the compiler can be measured now.
PLACES = ("household", "alfworld", "scienceworld")
_HOUSEHOLD_VARIANTS = (NONE, NO_FAULTS, STATIC, *OF_COMPILERS)
_VARIANTS_OF = {
    "household": _HOUSEHOLD_VARIANTS,
    "alfworld": ALFWORLD_VARIANTS,
    "scienceworld": SCIENCEWORLD_VARIANTS,
}
_VARIANTS = tuple(dict.fromkeys(variant for variants in _VARIANTS_OF.values() for variant in variants))
# Who compiles where nobody is named.
_COMPILERS_OF = dict.fromkeys(PLACES, ("rules", "model")) | {"scienceworld": SCIENCEWORLD_COMPILERS}
# As in `bench household --faults`: failures of one goal after which the executor gives up.
_PATIENCE = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument(
        "--on",
        choices=PLACES,
        default="household",
        help="household: the stream of --faults; alfworld: text games; scienceworld: lessons",
    )
    parser.add_argument("--scenes", type=Path, help="household: scenes.json.gz of the floor plans")
    parser.add_argument("--tasks", type=Path, help="household: the instructions (.jsonl, .gz)")
    parser.add_argument("--suite", choices=SUITES, default="alfred", help="household: the format of the instructions")
    parser.add_argument(
        "--planner", choices=PLANNERS, default="offline", help="household: the executor (default: offline)"
    )
    parser.add_argument("--games", type=Path, metavar="FILE|DIR", help="alfworld: a split")
    parser.add_argument(
        "--from", dest="memory_file", type=Path, metavar="FILE", help="alfworld: where things usually are"
    )
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="text worlds: transcripts to remember")
    parser.add_argument("--max-steps", type=int, default=50, help="text worlds: commands in a game (default 50)")
    parser.add_argument("--jobs", type=int, default=2, help="text worlds: games side by side (default 2)")
    parser.add_argument(
        "--compilers",
        nargs="+",
        choices=("rules", "model", "learned"),
        help="who compiles (default: rules and model; scienceworld: rules, and no other)",
    )
    parser.add_argument(
        "--compiler-adapter", default="", metavar="FILE", help="of `learned`, as `memory-node train` leaves it"
    )
    parser.add_argument(
        "--chooses", action="store_true", help="`model` and `learned` choose by numbers (default: JSON)"
    )
    parser.add_argument(
        "--soft-memory",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="alfworld: of `train softmem`; the rows full and latent are made for each",
    )
    parser.add_argument(
        "--variants",
        nargs="+",
        choices=_VARIANTS,
        help="which rows (default: all that there are; see docs/compiler.md)",
    )
    parser.add_argument("--limit", type=int, default=30, help="instructions, games or lessons (default 30)")
    parser.add_argument("--orders", type=int, default=1, help="household: shuffled orders of the tasks (default 1)")
    add_planner_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status.

    Raises:
        RobotMemoryError: the files are not named, or there is no such row.
    """
    # --adapter is the executor's.
    own = {"adapter_path": args.compiler_adapter, "chooses": args.chooses}
    compiler = CompilerModelConfig(**model_parameters(args) | own)
    config = CompilerConfig(llm=compiler)
    args.compilers = args.compilers or _COMPILERS_OF[args.on]
    there = _VARIANTS_OF[args.on]
    without_soft = (variant for variant in there if args.soft_memory or variant not in WITH_LATENT)
    variants = tuple(args.variants or without_soft)
    if unknown := set(variants) - set(there):
        raise RobotMemoryError(f"--on {args.on} has no rows {', '.join(sorted(unknown))}")
    if set(variants) & set(WITH_LATENT) and not args.soft_memory:
        raise RobotMemoryError("full and latent need --soft-memory FILE, of `memory-node train softmem`")
    if args.on != "household":
        emit(_rows_of_text(args, variants, config), args.json)
        return 0
    if args.scenes is None or args.tasks is None:
        raise RobotMemoryError("--on household needs --scenes and --tasks (docs/homes.md says how to make them)")
    embedder = CachingEmbedder(MiniLmEmbedder())
    planner_config = PlannerConfig(offline=OfflineConfig(max_failures=_PATIENCE), llm=llm_config(args))
    setting = CompilerSetting(
        Homes(args.scenes, load_catalogue(), args.seed),
        embedder,
        open_bench_planner(args.planner, args.mode, embedder, planner_config, args.fallback, asks=False),
        # A language model makes errors by itself; for the offline planner they are injected.
        Faults(seed=args.seed) if args.planner == "offline" else None,
        config,
        tuple(args.compilers),
        variants,
        args.orders,
        args.seed,
    )
    emit(rows_of_household(load_cases(args.tasks, args.suite, args.limit, args.seed), setting), args.json)
    return 0


def _rows_of_text(args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig) -> Iterator[Row]:
    if args.on == "scienceworld":
        return rows_of_scienceworld(args, variants, config)
    if args.games is None:
        raise RobotMemoryError("--on alfworld needs --games")
    return rows_of_alfworld(args, variants, config)
