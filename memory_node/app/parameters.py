"""`memory-node parameters`: every parameter with its default, meaning and range, as a file to start from or a page."""

from __future__ import annotations

import argparse

from memory_node.domain.parameter_file import parameter_page, parameter_text
from memory_node.nodes.node_parameters import NODE_PARAMETERS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("node", nargs="?", choices=NODE_PARAMETERS, help="one node (default: all)")
    parser.add_argument("--markdown", action="store_true", help="as the tables of docs/parameters.md")
    parser.add_argument("--expert", action="store_true", help="tables of the parameters of experiments")


def run(args: argparse.Namespace) -> int:
    """Print them."""
    chosen = {args.node: NODE_PARAMETERS[args.node]} if args.node else NODE_PARAMETERS
    if args.markdown or args.expert:
        print(parameter_page(chosen, args.expert), end="")
    else:
        print("\n".join(parameter_text(kind, node) for node, kind in chosen.items()), end="")
    return 0
