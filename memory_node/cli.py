"""`memory-node ...`: the command line of robot_memory."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from memory_node import __version__
from memory_node.domain.errors import ExtraMissingError, RobotMemoryError
from memory_node.domain.process import end_at_once

Commands = Mapping[str, tuple[str, str]]

# name -> (module, what it does); a module is imported only when its command is chosen, so that --help stays fast.
COMMANDS = {
    "ingest": ("memory_node.app.ingest.command", "build a memory from recorded frames or a rosbag2"),
    "picture": ("memory_node.app.picture", "draw what a running memory node remembers as a PNG"),
    "parameters": (
        "memory_node.app.parameters",
        "print the nodes' parameters with their meanings, ranges and defaults",
    ),
    "store": ("memory_node.store.command", "look after the durable store: info, check, backup, export, forget, ..."),
    "knowledge": ("memory_node.app.knowledge", "add documents and facts to what is known, ask it, show it"),
    "understand": ("memory_node.app.understand", "show what the planner makes of instructions"),
    "demo": ("memory_node.app.demo.command", "run the simulated home, the memory and the planner"),
    "mcp": (
        "memory_node.inspector.mcp_command",
        "let agents ask and tell a memory (Model Context Protocol)",
    ),
    "inspect": ("memory_node.inspector.inspect_command", "look into a memory and mend it: a web page and REST"),
    "llm": ("memory_node.llm.command", "check a language model: what it is, how fast it is, and whether it answers"),
    "model": ("memory_node.search.model_command", "build and check the sentence embedder's ONNX graph"),
}
_INTERRUPTED = 130
_CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class CheckoutGroup:
    """Commands that a checkout has and an installed robot has not: a top-level package lists its own in COMMANDS.

    prints_rows: they all take --json and --seed. extra: brings the packages that they need.
    """

    package: str
    summary: str
    metavar: str
    prints_rows: bool = False
    extra: str = ""


GROUPS = {
    "bench": CheckoutGroup("benchmarks", "measure it", "BENCHMARK", prints_rows=True),
    "train": CheckoutGroup("training", "train the weights that ship", "MODEL", extra="learning"),
}


class Command(Protocol):
    """What a command's module offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's options."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; return the exit status."""


def _is_here(group: CheckoutGroup) -> bool:
    return (_CHECKOUT / group.package / "__init__.py").is_file()


def checkout_commands(group: CheckoutGroup) -> Commands:
    """Return a group's commands.

    Raises:
        RobotMemoryError: this is no checkout.
    """
    if not _is_here(group):
        raise RobotMemoryError(
            f"{group.package}/ is not installed with the package; clone robot_memory and run memory-node from there"
        )
    if str(_CHECKOUT) not in sys.path:
        sys.path.append(str(_CHECKOUT))
    return cast("Commands", importlib.import_module(group.package).COMMANDS)


def build_parser(argv: Sequence[str]) -> tuple[argparse.ArgumentParser, Command | None]:
    """Return the parser for `argv`, with the options of the one command that it names.

    Raises:
        RobotMemoryError: `argv` names a command that only a checkout has.
        ExtraMissingError: its packages are not installed.
    """
    parser = _StrictParser(prog="memory-node", description="The memory of a mobile manipulator.")
    parser.add_argument("--version", action="version", version=f"robot_memory {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {name: commands.add_parser(name, help=help_, description=help_) for name, (_, help_) in COMMANDS.items()}
    first, second, *_ = [*(word for word in argv if not word.startswith("-")), "", ""]
    for name, group in GROUPS.items():
        where = "" if _is_here(group) else " (in a checkout only: not installed here)"
        grouped = commands.add_parser(name, help=group.summary + where, description=group.summary)
        if name != first:
            continue
        choices = checkout_commands(group)
        inner = grouped.add_subparsers(dest=name, required=True, metavar=group.metavar)
        members = {name: inner.add_parser(name, help=help_, description=help_) for name, (_, help_) in choices.items()}
        if second in members:
            if group.prints_rows:
                members[second].add_argument(
                    "--json", action="store_true", help="one JSON object a row on standard output"
                )
                members[second].add_argument(
                    "--seed", type=int, default=0, help="seed of every random choice (default 0)"
                )
            try:
                return parser, _declared(choices[second][0], members[second])
            except ModuleNotFoundError as error:
                if not group.extra or (error.name or "").startswith(("memory_node.", f"{group.package}.")):
                    raise
                needed = f"pip install 'robot_memory[{group.extra}]'"
                raise ExtraMissingError(f"{name} {second} needs packages: {needed} ({error})") from error
    if first in COMMANDS:
        return parser, _declared(COMMANDS[first][0], parsers[first])
    return parser, None


class _StrictParser(argparse.ArgumentParser):
    """A parser that refuses unknown arguments itself, so that the usage shown is that of the command that got them.

    argparse hands them up to the first parser otherwise, which shows its own.
    """

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return what the arguments say; end the process with status 2 where one is unknown."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, []


def _declared(module_name: str, parser: argparse.ArgumentParser) -> Command:
    """Return a command's module after it has declared its options."""
    command = cast(Command, importlib.import_module(module_name))
    command.add_arguments(parser)
    return command


def main(argv: list[str] | None = None) -> int:
    """Run `memory-node` with `argv`; return the exit status.

    Without `argv` it runs the process's own arguments. Ctrl-C ends the process at once then.
    """
    own = argv is None
    argv = sys.argv[1:] if argv is None else argv
    try:
        parser, command = build_parser(argv)
        args = parser.parse_args(argv)
        assert command is not None, "argparse refuses a command line without a command"
        return command.run(args)
    except RobotMemoryError as error:
        print(f"memory-node: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # `memory-node ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains at its end
        return 141
    except OSError as error:  # a path that cannot be read or written: what the user gave, or the disk
        print(f"memory-node: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if own:
            end_at_once(_INTERRUPTED)
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
