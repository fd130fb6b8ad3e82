"""`memory-node bench compiler`: the effect of compiling memory at each step, with controls."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.compiler_household import rows_of_household
from benchmarks.compiler_life import rows_of_life
from benchmarks.compiler_text import (
    ALFWORLD_VARIANTS,
    SCIENCEWORLD_COMPILERS,
    SCIENCEWORLD_VARIANTS,
    rows_of_alfworld,
    rows_of_scienceworld,
)
from benchmarks.compiler_variants import NO_FAULTS, NONE, OF_COMPILERS, STATIC, WITH_LATENT
from benchmarks.household_cases import SUITES
from benchmarks.model_figures import add_planner_arguments
from benchmarks.ranking.ranked_planner import BY_CHANCE
from benchmarks.rows import emit
from memory_node.context.config import CompilerConfig, CompilerModelConfig
from memory_node.domain.errors import RobotMemoryError
from memory_node.llm.command import model_parameters
from memory_node.planner.planner_config import PLANNERS

# Where the compiler can be measured now.
TEXT_WORLDS = ("alfworld", "scienceworld")
PLACES = ("household", *TEXT_WORLDS, "life")
_HOUSEHOLD_VARIANTS = (NONE, NO_FAULTS, STATIC, *OF_COMPILERS, *BY_CHANCE)
_VARIANTS_OF = {
    "household": _HOUSEHOLD_VARIANTS,
    "alfworld": ALFWORLD_VARIANTS,
    "scienceworld": SCIENCEWORLD_VARIANTS,
    # What goes wrong on a day is in its file: there is no row without faults.
    "life": (NONE, STATIC, *OF_COMPILERS, *BY_CHANCE),
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
        help="household: the stream of --faults; alfworld: text games; scienceworld: lessons; life: days",
    )
    parser.add_argument("--scenes", type=Path, help="household, life: scenes.json.gz of the floor plans")
    parser.add_argument("--days", type=Path, nargs="+", metavar="FILE", help="life: days, as `bench life` has them")
    parser.add_argument("--tasks", type=Path, help="household: the instructions (.jsonl, .gz)")
    parser.add_argument("--suite", choices=SUITES, default="alfred", help="household: the format of the instructions")
    parser.add_argument(
        "--planner", choices=PLANNERS, default="offline", help="household, life: the executor (default: offline)"
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
    compiler = CompilerModelConfig(**model_parameters(args) | {"adapter_path": args.compiler_adapter})
    config = CompilerConfig(llm=compiler)
    args.compilers = args.compilers or _COMPILERS_OF[args.on]
    there = _VARIANTS_OF[args.on]
    # Whatever a language model that acts comes to, chance stands beside it.
    by_model = args.on in TEXT_WORLDS or args.planner != "offline"
    unasked = {*(() if args.soft_memory else WITH_LATENT), *(() if by_model else BY_CHANCE)}
    if args.on == "life" and by_model:
        unasked.add(STATIC)
    variants = tuple(args.variants or (variant for variant in there if variant not in unasked))
    if unknown := set(variants) - set(there):
        raise RobotMemoryError(f"--on {args.on} has no rows {', '.join(sorted(unknown))}")
    if set(variants) & set(WITH_LATENT) and not args.soft_memory:
        raise RobotMemoryError("full and latent need --soft-memory FILE, of `memory-node train softmem`")
    rows_of = {
        "household": rows_of_household,
        "alfworld": rows_of_alfworld,
        "scienceworld": rows_of_scienceworld,
        "life": rows_of_life,
    }
    emit(rows_of[args.on](args, variants, config), args.json)
    return 0
