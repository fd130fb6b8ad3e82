"""`memory-node mcp`: lets agents ask and tell a memory by the Model Context Protocol."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from io import FileIO
from typing import Any

from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector import opened_memory
from memory_node.inspector.access import ROLES, Role
from memory_node.inspector.deeds import EditBook

_CHUNK = 65536
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def interruptible_input() -> Iterator[None]:
    """Let SIGINT and SIGTERM end standard input (descriptor 0) inside the block; in the main thread alone.

    Raises:
        KeyboardInterrupt: at the block's end, when a signal came.
    """
    given = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    passed_on = FileIO(writing, "wb")
    came: list[int] = []

    def on_signal(number: int, _frame: Any) -> None:
        came.append(number)
        passed_on.close()

    # It may wait for `given` for ever, and is left behind then.
    threading.Thread(target=_forward, args=(given, passed_on), name="standard-input", daemon=True).start()
    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.dup2(given, 0)
    if came:
        raise KeyboardInterrupt


def _forward(source: int, target: FileIO) -> None:
    """Copy what comes from `source` until it ends, or `target` is closed or read by nobody any more."""
    with contextlib.suppress(OSError, ValueError), target:
        while chunk := os.read(source, _CHUNK):
            rest = memoryview(chunk)
            while rest:
                rest = rest[target.write(rest) :]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    opened_memory.add_arguments(parser)
    parser.add_argument("--may", choices=ROLES, default="edit", help="what agents may do (default edit: read and tell)")
    parser.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help="streamable HTTP on 127.0.0.1:PORT/mcp (default: standard input and output)",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until standard input ends or a signal comes.

    Raises:
        RobotMemoryError: the extra is not installed, or there is no such memory.
    """
    try:
        from memory_node.inspector.deeds import Desk
        from memory_node.inspector.mcp_server import build_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        raise RobotMemoryError("MCP needs the extra `agents`: pip install 'robot_memory[agents]'") from error
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(opened_memory.opened(args))
        robot = stack.enter_context(opened_memory.robot_of(args))
        may: Role = "read" if opened_memory.only_reads(args) else args.may
        book = EditBook(opened.clock)
        stack.callback(book.close)
        server = build_server(Desk(opened.memory, opened.views, opened.kinds, opened.clock, book, robot), may)
        if args.http is None:
            with interruptible_input():
                server.run("stdio")
        else:
            print(f"http://127.0.0.1:{args.http}/mcp", file=sys.stderr)
            server.run("streamable-http", host="127.0.0.1", port=args.http)
    return 0
