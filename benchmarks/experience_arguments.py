"""Options that leave parts of experience out or change their size, as in BrainMem's ablation tables."""

from __future__ import annotations

import argparse

from memory_node.lessons.config import GRAPHS, ExperienceConfig

_DEFAULT = ExperienceConfig()


def add_experience_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--working-memory",
        type=int,
        default=_DEFAULT.window,
        metavar="STEPS",
        help=f"steps in working memory (default {_DEFAULT.window})",
    )
    parser.add_argument(
        "--top-k",
        type=int,
        default=_DEFAULT.top_k,
        metavar="K",
        help=f"experiences that are told at most (default {_DEFAULT.top_k})",
    )
    parser.add_argument(
        "--without-graphs",
        nargs="+",
        choices=sorted(GRAPHS),
        default=[],
        metavar="GRAPH",
        help=f"of episodic memory, not told: {', '.join(sorted(GRAPHS))}",
    )


def experience_config(args: argparse.Namespace) -> ExperienceConfig:
    """Return the parameters that the options give.

    Raises:
        InvalidValueError: one is out of its range.
    """
    return _DEFAULT.changed(
        window=args.working_memory,
        top_k=args.top_k,
        graphs=GRAPHS - set(args.without_graphs),
    )
