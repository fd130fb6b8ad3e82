"""`memory-node train executor-games`: the expert plays train games with mistakes; games that are won are written."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.alfworld.compiled import CompiledSetting, compiled_aids
from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.play import for_text_games
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.executor.practice import MAX_STEPS, Practice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--games", type=Path, required=True, metavar="FILE|DIR", help="train games")
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="memory learnt before")
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="transcripts of games to remember")
    parser.add_argument("--wrong", type=float, default=0.2, help="share of wrong commands (default 0.2)")
    parser.add_argument("--limit", type=int, default=0, help="play a sample of this many (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of sample and mistakes (default 0)")
    parser.add_argument("--out", type=Path, required=True, help="the games, one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Play the games and write those that were won; return the exit status.

    Raises:
        NotFoundError: a file is not there.
    """
    games = load_games(args.games, args.limit, args.seed)
    kinds, embedder = for_text_games(load_catalogue()), CachingEmbedder(MiniLmEmbedder())
    expert = compiled_aids(CompiledSetting(attempts=args.attempts), kinds, embedder, MAX_STEPS)
    practice, won = Practice(expert, args.wrong, args.seed), 0
    with (
        Learnt(args.memory_file, learns=False) as learnt,
        args.out.open("w", encoding="utf-8") as file,
        progress_bar() as bar,
    ):
        progress: Any = bar.add_task("practice", total=len(games))
        for game in games:
            played = practice.play(game, learnt.census)
            if played is not None:
                file.write(json.dumps(played.to_row()) + "\n")
                file.flush()
                won += 1
            bar.advance(progress)
    print(f"{won} of {len(games)} games won: {args.out}", file=sys.stderr)
    return 0
