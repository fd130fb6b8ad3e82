"""`memory-node store ...`: look after the durable store."""

from __future__ import annotations

import argparse
import json
import math
import socket
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table
from sqlalchemy.engine import Engine

from memory_node.domain.clock import system_clock
from memory_node.domain.errors import InvalidValueError, NotFoundError, StoreError
from memory_node.domain.scene import SceneSnapshot
from memory_node.store import exchange, graph_export, reader
from memory_node.store.backup import backup, register, restore
from memory_node.store.check import check
from memory_node.store.compact import compact
from memory_node.store.config import StoreConfig
from memory_node.store.engine import open_engine, parse_url, reason_of, sqlite_path
from memory_node.store.errors import StoreInUseError
from memory_node.store.forget import forget
from memory_node.store.forget_request import ForgetRequest
from memory_node.store.graph_export import GeoOrigin
from memory_node.store.inventory import inventory
from memory_node.store.location import Folders, default_database, locate
from memory_node.store.store import open_store
from memory_node.store.versioning import prepare

HELP = "look after the durable store: info, check, backup, restore, export, import, forget, compact"
FORMATS = ("jsonl", "parquet", "graphml", "geojson")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the commands and their options."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--database", default="", help="a file or a postgresql:// address (default: the memory node's own file)"
    )
    shared.add_argument("--site", default="", help="site (default: the file's own, on a server 'home')")
    shared.add_argument(
        "--robot", default=socket.gethostname(), help="robot whose journal and images on this machine are meant"
    )
    shared.add_argument("--json", action="store_true", help="print JSON")
    commands = parser.add_subparsers(dest="store_command", required=True, metavar="COMMAND")

    def add(name: str, help_: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help_, description=help_, parents=[shared])

    add("info", "what the store holds, and of which schema and site it is")
    add("check", "whether it is whole, and what to do if not; exit status 1 when facts are wrong or lost")
    add("backup", "write a consistent copy, one SQLite file, while robots work").add_argument("target", type=Path)
    command = add("restore", "bring a backup into an empty site")
    command.add_argument("source", type=Path)
    command.add_argument("--replace", action="store_true", help="remove what the site holds first")
    _add_exchange(add)
    _add_forget(add("forget", "forget for good, with all that only it supported; exit status 2 when traces are left"))
    add("compact", "remove orphans and give space back")


def _add_exchange(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    command = add("export", "write all facts (jsonl, parquet) or the scene graph (graphml, geojson)")
    command.add_argument("target", type=Path, help="a file; for parquet a folder")
    command.add_argument("--format", choices=FORMATS, help="default: by the name's ending")
    command.add_argument(
        "--origin", nargs=2, type=float, metavar=("LAT", "LON"), help="geojson: where the map's 0,0 is"
    )
    command.add_argument("--heading", type=float, default=0.0, help="geojson: degrees from east to the map's x axis")
    command = add("import", "take over the facts of an export that the site does not have; all or nothing")
    command.add_argument("source", type=Path, help="a jsonl file or a parquet folder")


def _add_forget(command: argparse.ArgumentParser) -> None:
    scope = command.add_mutually_exclusive_group(required=True)
    scope.add_argument("--object", action="append", metavar="ID", help="an object (may be repeated)")
    scope.add_argument("--area", metavar="ID", help="what is in an area, and what was done there")
    scope.add_argument("--class", dest="class_name", metavar="NAME", help="all objects of a class")
    scope.add_argument("--label", help="whatever carries these words, such as a person's name")
    scope.add_argument("--span", nargs=2, metavar=("FROM", "UNTIL"), help="ISO 8601 times, or nanoseconds")
    scope.add_argument("--of-robot", metavar="ID", help="what this robot alone contributed")


def run(args: argparse.Namespace) -> int:
    """Run one command; the exit status is its verdict."""
    url = parse_url(args.database or default_database())
    path = sqlite_path(url)
    if path is not None and not path.is_file() and args.store_command not in ("restore", "import"):
        raise StoreError(f"there is no store {path} (--database names another)")
    engine = open_engine(url, busy_timeout_s=10.0)
    try:
        site = prepare(engine, args.site)
        folders = locate(url, site, args.robot, StoreConfig())
        if args.store_command in _SETTLED and folders.journal_waits:
            _replay(args)
        return _COMMANDS[args.store_command](args, engine, site, folders)
    except sa.exc.DBAPIError as error:
        raise StoreError(f"the database refuses: {reason_of(error)}") from error
    finally:
        engine.dispose()


def _replay(args: argparse.Namespace) -> None:
    """Bring what a stopped robot's journal still holds into the database first."""
    try:
        open_store(args.database or default_database(), args.robot, args.site).close()
    except StoreInUseError:
        print("a memory node is running, and what its journal holds is not in the database yet", file=sys.stderr)


def _show(args: argparse.Namespace, facts: dict[str, Any]) -> None:
    if args.json:
        print(json.dumps(facts, ensure_ascii=False))
        return
    table = Table(show_header=False)
    for name, value in facts.items():
        listed = value.items() if isinstance(value, dict) else None
        shown = "\n".join(f"{key}: {part}" for key, part in listed) if listed else value
        shown = "\n".join(map(str, value)) if isinstance(value, (list, tuple)) else shown
        table.add_row(name.replace("_", " "), str(shown))
    Console().print(table)


def _info(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    _show(args, inventory(engine, site, folders))
    return 0


def _check(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    findings = check(engine, site, folders)
    errors = sum(finding.severity == "error" for finding in findings)
    if args.json:
        print(json.dumps({"ok": not errors, "findings": [vars(finding) for finding in findings]}))
    else:
        for finding in findings:
            print(f"{finding.severity}: {finding.what}\n    {finding.advice}")
        print(f"{errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0


def _backup(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    backup(engine, site, args.target)
    _show(args, {"backup": str(args.target), "bytes": args.target.stat().st_size})
    return 0


def _restore(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    _show(args, {"restored": restore(engine, site, args.source, args.robot, args.replace)})
    return 0


def _export(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    form = args.format or args.target.suffix.lstrip(".")
    if form == "jsonl":
        count = exchange.export_jsonl(engine, site, args.target)
    elif form == "parquet":
        count = exchange.export_parquet(engine, site, args.target)
    elif form == "graphml":
        count = graph_export.export_graphml(_scene(engine, site), args.target)
    elif form == "geojson":
        count = graph_export.export_geojson(_scene(engine, site), args.target, _origin(args))
    else:
        raise InvalidValueError(f"{args.target}: expected a name that ends with one of {FORMATS}, or --format")
    register(engine, site, args.target.absolute(), "export")
    _show(args, {"export": str(args.target), "format": form, "records": count})
    return 0


def _origin(args: argparse.Namespace) -> GeoOrigin | None:
    if args.origin is None:
        return None
    latitude_deg, longitude_deg = args.origin
    return GeoOrigin(latitude_deg, longitude_deg, math.radians(args.heading))


def _scene(engine: Engine, site: str) -> SceneSnapshot:
    with reader.reading(engine) as connection:
        return reader.read_scene(connection, site, system_clock())


def _import(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    if not args.source.exists():
        raise NotFoundError(f"there is no {args.source}")
    take = exchange.import_parquet if args.source.is_dir() else exchange.import_jsonl
    counts = take(engine, site, args.source, folders.images, args.robot)
    _show(args, {"imported": {name: count for name, count in counts.items() if count}})
    return 0


def _forget(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    first, last = (_nanoseconds(text) for text in args.span) if args.span else (0, 0)
    request = ForgetRequest(
        tuple(args.object or ()),
        args.area or "",
        args.class_name or "",
        args.label or "",
        first,
        last,
        args.of_robot or "",
    )
    report = forget(engine, site, request, args.robot, folders)
    _show(args, report.to_dict())
    if report.exports:
        print("exports made before still hold it: delete them", file=sys.stderr)
    return 0 if report.verified else 2


def _nanoseconds(text: str) -> int:
    if text.isdigit():
        return int(text)
    try:
        # Python 3.10 does not read the Z of UTC.
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1e9)
    except ValueError as error:
        raise InvalidValueError(f"expected an ISO 8601 time or nanoseconds, got {text!r}") from error


def _compact(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> int:
    _show(args, dict(compact(engine, site)))
    return 0


_COMMANDS: dict[str, Callable[[argparse.Namespace, Engine, str, Folders], int]] = {
    "info": _info,
    "check": _check,
    "backup": _backup,
    "restore": _restore,
    "export": _export,
    "import": _import,
    "forget": _forget,
    "compact": _compact,
}
# Commands that must see everything that was acknowledged.
_SETTLED = ("backup", "export", "forget", "compact")
