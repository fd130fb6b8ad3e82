"""`memory-node ...`: the command line of robot_memory."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from typing import Protocol, cast

from memory_node import __version__
from memory_node.domain.errors import RobotMemoryError

# name -> module; a module is imported only when its command is chosen, so that --help stays fast.
COMMANDS = {
    "ingest": ("memory_node.nodes.ingest", "build a memory from recorded frames or a rosbag2"),
    "picture": ("memory_node.nodes.picture", "draw what a running memory node remembers as a PNG"),
    "store": ("memory_node.store.command", "look after the durable store: info, check, backup, export, forget, ..."),
    "demo": ("memory_node.nodes.demo", "run the simulated home, the memory and the planner"),
    "model": ("memory_node.retrieval.model_command", "build and check the sentence embedder's ONNX graph"),
}
BENCHMARKS = {
    "cache": "hit ratio and throughput of the short-term memory's replacement policies",
    "experience": "retrieval and memory of experience after many steps and guidelines",
    "recall": "latency and recall of vector search",
    "scene": "the scene graph on a simulated site",
    "segment": "class-agnostic segmentation of real RGB-D frames",
    "household": "instructions carried out in the ALFRED homes",
    "instructions": "understanding of people's instructions",
    "ros": "latency and throughput of ROS 2 communication",
    "store": "durability and throughput of the store",
}


class Command(Protocol):
    """What a command's module offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's options."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; return the exit status."""


def _module_of(argv: list[str]) -> tuple[str, bool] | None:
    words = [word for word in argv if not word.startswith("-")]
    if words[:1] == ["bench"] and len(words) > 1 and words[1] in BENCHMARKS:
        return f"memory_node.bench.{words[1]}", True
    if words[:1] and words[0] in COMMANDS:
        return COMMANDS[words[0]][0], False
    return None


def build_parser(argv: list[str]) -> tuple[argparse.ArgumentParser, Command | None]:
    """Return the parser for `argv`, with the options of the one command that it names."""
    parser = argparse.ArgumentParser(prog="memory-node", description="The memory of a mobile manipulator.")
    parser.add_argument("--version", action="version", version=f"robot_memory {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {name: commands.add_parser(name, help=help_, description=help_) for name, (_, help_) in COMMANDS.items()}
    bench = commands.add_parser("bench", help="measure it", description="Measured comparisons.")
    benches = bench.add_subparsers(dest="bench", required=True, metavar="BENCHMARK")
    for name, help_ in BENCHMARKS.items():
        parsers["bench " + name] = benches.add_parser(name, help=help_, description=help_)
    chosen = _module_of(argv)
    if chosen is None:
        return parser, None
    module_name, is_bench = chosen
    command = cast(Command, importlib.import_module(module_name))
    words = [word for word in argv if not word.startswith("-")]
    subparser = parsers[" ".join(words[:2]) if is_bench else words[0]]
    command.add_arguments(subparser)
    if is_bench:
        subparser.add_argument("--json", action="store_true", help="one JSON object a row on standard output")
        subparser.add_argument("--seed", type=int, default=0, help="seed of every random choice (default 0)")
    return parser, command


def main(argv: list[str] | None = None) -> int:
    """Run `memory-node` with `argv` (default: the process's own arguments); return the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    parser, command = build_parser(argv)
    args = parser.parse_args(argv)
    assert command is not None, "argparse refuses a command line without a command"
    try:
        return command.run(args)
    except RobotMemoryError as error:
        print(f"memory-node: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
