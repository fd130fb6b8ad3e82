"""`memory-node inspect`: a page and REST to search, see and mend a memory."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import os
import sys
import time
from pathlib import Path

from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector import opened_memory
from memory_node.inspector.access import ROLES, TOKEN_VARIABLE, Caller, RateLimit, Role, TokenBook, read_tokens

DEFAULT_PORT = 8780
_NEEDS = ("fastapi", "uvicorn", "prometheus_client", "starlette")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    opened_memory.add_arguments(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"0: a free one (default {DEFAULT_PORT})")
    parser.add_argument(
        "--read-only", action="store_true", help="no edits; a file is then shown as it is now, a node may have it open"
    )
    parser.add_argument("--may", choices=ROLES, default="edit", help="role of who needs no token (default edit)")
    parser.add_argument("--no-images", action="store_true", help="show no pictures: they are private")
    parser.add_argument("--token-file", type=Path, help="lines NAME ROLE TOKEN, readable by its owner alone")
    parser.add_argument("--tls-certificate", type=Path, metavar="FILE", help="serve HTTPS with this certificate (PEM)")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="the certificate's key (PEM)")
    parser.add_argument(
        "--without-tls", action="store_true", help="allow other machines without TLS, for example behind a proxy"
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="another name of this machine in addresses"
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="another site whose pages may ask and edit, with a token: https://fleet.example (CORS)",
    )
    parser.add_argument("--requests-per-s", type=float, default=500.0, help="of one client, at most (default 500)")


def run(args: argparse.Namespace) -> int:
    """Serve until a signal comes.

    Raises:
        RobotMemoryError: the extra is not installed, there is no such memory, or the options leave it open to others.
    """
    try:
        from memory_node.inspector.application import build_application
        from memory_node.inspector.guard import GuardConfig
        from memory_node.inspector.inspector import Inspector
        from memory_node.inspector.server import InspectorServer, Listening, allow_many_connections
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _NEEDS:
            raise
        raise RobotMemoryError("the inspector needs its extra: pip install 'robot_memory[inspector]'") from error
    args.read_only = args.read_only or opened_memory.only_reads(args)
    role: Role = "read" if args.read_only else args.may
    tokens = _tokens(args, role)
    _check_reach(args, tokens)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    hosts = frozenset({"127.0.0.1", "localhost", "::1", args.host.lower(), *map(str.lower, args.allow_host)})
    limit = RateLimit(args.requests_per_s, 2 * args.requests_per_s, time.monotonic)
    allow_many_connections()
    with opened_memory.opened(args, as_copy=args.read_only) as opened, opened_memory.robot_of(args) as robot:
        inspector = Inspector(
            opened.memory, opened.views, opened.kinds, opened.source, not args.no_images, opened.clock, robot
        )
        app = build_application(inspector, GuardConfig(tokens, role, hosts, limit, frozenset(args.allow_origin)))
        scheme = "https" if args.tls_certificate else "http"
        shown = f"[{args.host}]" if ":" in args.host else args.host

        def tell(port: int) -> None:
            print(f"{scheme}://{shown}:{port}/", file=sys.stderr, flush=True)

        listening = Listening(args.host, args.port, args.tls_certificate, args.tls_key)
        InspectorServer(app, listening, tell, inspector.feed.close).run()
    return 0


def _tokens(args: argparse.Namespace, role: Role) -> TokenBook:
    if args.token_file is not None:
        book = read_tokens(args.token_file)
        return book.limited_to("read") if args.read_only else book
    token = os.environ.get(TOKEN_VARIABLE, "")
    return TokenBook([(token, Caller("token", role))] if token else [])


def _check_reach(args: argparse.Namespace, tokens: TokenBook) -> None:
    """Refuse to be open to others.

    Raises:
        RobotMemoryError: other machines could reach memory without a token, or hear it.
    """
    if bool(args.tls_certificate) != bool(args.tls_key):
        raise RobotMemoryError("--tls-certificate and --tls-key: expected both or neither")
    for path in filter(None, (args.tls_certificate, args.tls_key)):
        if not path.is_file():
            raise RobotMemoryError(f"{path}: no such file")
    if args.allow_origin and not len(tokens):
        raise RobotMemoryError(f"--allow-origin: pages of other sites need a token: --token-file or {TOKEN_VARIABLE}")
    if _is_loopback(args.host):
        return
    if not len(tokens):
        raise RobotMemoryError(f"--host {args.host}: other machines need a token: --token-file or {TOKEN_VARIABLE}")
    if not args.tls_certificate and not args.without_tls:
        raise RobotMemoryError(f"--host {args.host}: expected --tls-certificate and --tls-key, or --without-tls")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
