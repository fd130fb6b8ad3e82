"""The rows of `bench compiler --on life`: days on which memory is compiled in several ways."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.compiler_household import Account, CarriedOut, Watched, rows_of_robot
from benchmarks.compiler_variants import NONE, STATIC, OtherMemories, compiler_of, variant_of
from benchmarks.life.lives import opened_days
from benchmarks.life.player import RobotPlayer
from benchmarks.life.players import Players
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.switches import COMPILER
from benchmarks.ranking.ranked_planner import BY_CHANCE
from memory_node.context.compilations import Compilations
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import GuidancePort
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.open_model import ModelShelf
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder


def rows_of_life(args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig) -> Iterator[dict[str, Any]]:
    """Yield the rows of days; see rows_of_robot. A day that is broken or crashes counts as not done.

    Raises:
        InvalidValueError: no days are named, or something is wrong with them; a row means nothing on days.
    """
    if args.orders != 1:
        raise InvalidValueError("--orders: each day of --on life begins with a memory of its own, so no order counts")
    if STATIC in variants and args.planner != "offline":
        raise InvalidValueError("static: a language model reads memory once, which is the row none of --on life")
    embedder = CachingEmbedder(MiniLmEmbedder())
    with opened_days(args.days, args.scenes, embedder, args.limit, args.seed) as (days, lives):
        players, models = Players(args, embedder), ModelShelf()

        def carried_out(variant: str, name: str, account: Account, number: int) -> Iterator[CarriedOut]:
            planner = variant if variant in BY_CHANCE else args.planner
            # To a day M of an earlier one is another robot's: it is what `shuffled-m` gives.
            others = OtherMemories(random.Random(f"{args.seed} memory"))

            def guide(player: RobotPlayer, life: RobotLife) -> None:
                def guided(own: Compilations) -> GuidancePort:
                    guidance = variant_of(own, variant, compiler_of(variant, name, config, models), others)
                    return Watched(guidance, variant, account, lambda: (life.world, life.robot.body.pose))

                player.guided = guided

            for day in days:
                run_of = players.run(planner, day, number, prepare=guide)
                report = lives.play(day, COMPILER if variant in (NONE, *BY_CHANCE) else "", run_of)
                print(report.trouble, end="", file=sys.stderr)
                yield CarriedOut(report.right, report.right_steps, len(day.scenario.judged), report.results)

        yield from rows_of_robot(args, variants, len(days), carried_out)
