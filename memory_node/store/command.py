"""`memory-node store ...`: look after the durable store."""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from sqlalchemy.engine import URL, Engine

from memory_node.domain.clock import system_clock
from memory_node.domain.errors import InvalidValueError, StoreError
from memory_node.domain.ids import new_id
from memory_node.domain.resources import create_private
from memory_node.domain.scene import SceneSnapshot, as_of, moments_of
from memory_node.store import exchange, reader
from memory_node.store.backup import backup, is_whole, open_backup, restore, rotated_backups
from memory_node.store.bad_rows import BadRows
from memory_node.store.check import Finding, findings_of
from memory_node.store.config import StoreConfig
from memory_node.store.distribute import distribute, has_citus, separate_sites
from memory_node.store.engine import (
    DATABASE_ERRORS,
    database_files,
    disposed,
    for_writing,
    open_engine,
    reason_of,
    require_store,
)
from memory_node.store.errors import InvalidImportError, MissingStoreError, StoreInUseError
from memory_node.store.exchange import GeoOrigin
from memory_node.store.forget import compact, forget
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.inspection import OpenedStore, inventory, open_to_read
from memory_node.store.location import Folders, default_database, locate, note_export, parse_url, sqlite_path
from memory_node.store.repair import nobody_else, repair, set_aside
from memory_node.store.site_database import make_tables, note_session, prepare, site_of
from memory_node.store.store import open_store
from memory_node.view import open_views


def working(what: str) -> Progress:
    """Return a display on standard error that work goes on, and for how long; silent where that is no terminal."""
    console = Console(stderr=True)
    console.quiet = not console.is_terminal  # rich 13.0 ends a disabled display with an empty line
    display = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),
    )
    display.add_task(what, total=None)
    return display


def show(args: argparse.Namespace, facts: dict[str, Any]) -> None:
    """Print facts by name, as a table or as JSON."""
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


def show_findings(args: argparse.Namespace, findings: Sequence[Finding], repaired: dict[str, Any] | None = None) -> int:
    """Print what is wrong, after what was mended; return the exit status."""
    errors = sum(finding.severity == "error" for finding in findings)
    if args.json:
        verdict: dict[str, Any] = {"ok": not errors, "findings": [vars(finding) for finding in findings]}
        print(json.dumps(verdict if repaired is None else {**verdict, "repaired": repaired}))
        return 1 if errors else 0
    if repaired is not None:
        show(args, repaired)
    for finding in findings:
        print(f"{finding.severity}: {finding.what}\n    {finding.advice}")
    print(f"{errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0


FORMATS = ("jsonl", "parquet", "graphml", "geojson", "rrd", "mcap")


def info(args: argparse.Namespace, url: URL) -> int:
    """Say what the store holds."""
    with open_to_read(url, args.site, args.robot, StoreConfig()) as opened:
        show(args, inventory(opened))
    return 0


def check(args: argparse.Namespace, url: URL) -> int:
    """Say whether the store is whole; with --repair, mend it first."""
    config = StoreConfig()
    repaired = repair(url, args.site, args.robot, config) if args.repair else None
    return show_findings(args, findings_of(url, args.site, args.robot, config), repaired)


def export(args: argparse.Namespace, url: URL) -> int:
    """Write all facts, or the scene graph, to a file or folder."""
    form = args.format or args.target.suffix.lstrip(".")
    if form not in _EXPORTS:
        raise InvalidValueError(f"{args.target}: expected a name that ends with one of {FORMATS}, or --format")
    with open_to_read(url, args.site, args.robot, StoreConfig(), complete=True) as opened:
        bad = BadRows()
        count = _EXPORTS[form](args, opened, bad)
        if bad:
            print(f"{len(bad)} rows cannot be read and are left out; see `memory-node store check`", file=sys.stderr)
        try:
            note_export(opened.folders, args.target.absolute())
        except OSError as error:
            print(f"`store forget` will not tell of this export, for it cannot be noted: {error}", file=sys.stderr)
    show(args, {"export": str(args.target), "format": form, "records": count})
    return 0


def _scene(opened: OpenedStore, bad: BadRows) -> SceneSnapshot:
    (scene, _), found = reader.read_leniently(
        opened.engine, lambda connection, rows: reader.read_scene(connection, opened.site, system_clock(), rows)
    )
    bad += found
    return scene


def _export_past(scene: SceneSnapshot, target: Path, rrd: Path | None = None, mcap: Path | None = None) -> int:
    """Write the graph as it was at each moment at which something changed, for a viewer's own program."""
    target.unlink(missing_ok=True)
    create_private(target)
    moments = moments_of(scene.objects, (place for one in scene.objects for place in one.history))
    (view,) = open_views(rrd, mcap)
    for stamp_ns in moments.tolist():
        view.show_objects(stamp_ns, tuple(as_of(scene.objects, stamp_ns)))
    view.close()
    return len(moments)


def _origin(args: argparse.Namespace) -> GeoOrigin | None:
    if args.origin is None:
        return None
    latitude_deg, longitude_deg = args.origin
    return GeoOrigin(latitude_deg, longitude_deg, math.radians(args.heading))


_EXPORTS: dict[str, Callable[[argparse.Namespace, OpenedStore, BadRows], int]] = {
    "jsonl": lambda args, opened, bad: exchange.export_jsonl(opened.engine, opened.site, args.target, bad),
    "parquet": lambda args, opened, bad: exchange.export_parquet(opened.engine, opened.site, args.target, bad),
    "graphml": lambda args, opened, bad: exchange.export_graphml(_scene(opened, bad), args.target),
    "rrd": lambda args, opened, bad: _export_past(_scene(opened, bad), args.target, rrd=args.target),
    "mcap": lambda args, opened, bad: _export_past(_scene(opened, bad), args.target, mcap=args.target),
    "geojson": lambda args, opened, bad: exchange.export_geojson(_scene(opened, bad), args.target, _origin(args)),
}


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
    command = add("check", "whether it is whole, and what to do if not; exit status 1 when facts are wrong or lost")
    command.add_argument(
        "--repair", action="store_true", help="first make a damaged file anew, of its readable rows and the last backup"
    )
    add("backup", "write a consistent copy, one SQLite file, while robots work").add_argument("target", type=Path)
    command = add("restore", "bring a backup into an empty site")
    command.add_argument("source", type=Path, nargs="?", help="default: the newest backup that the store itself made")
    command.add_argument(
        "--replace", action="store_true", help="remove what the site holds first; a damaged file is set aside"
    )
    _add_exchange(add)
    _add_forget(add("forget", "forget for good, with all that only it supported; exit status 2 when traces are left"))
    add("take-over", "let this machine write as --robot in place of another one, which is then refused")
    command = add("distribute", "spread a server's tables over the nodes of Citus; may be run again at any time")
    command.add_argument("--rls", action="store_true", help="let each role see only the sites that it was granted")
    command.add_argument(
        "--grant", nargs=2, action="append", default=[], metavar=("ROLE", "SITE"), help="with --rls: may be repeated"
    )
    add("compact", "remove orphans and give space back")


def _add_exchange(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    command = add(
        "export",
        "write all facts (jsonl, parquet), the scene graph (graphml, geojson), or how it came about, for Rerun or "
        "Foxglove (rrd, mcap)",
    )
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
    command = _WITHOUT_SITE.get(args.store_command)
    try:
        with working(args.store_command):
            return command(args, url) if command is not None else _write(args, url)
    except DATABASE_ERRORS as error:
        raise StoreError(f"the database refuses: {reason_of(error)}") from error
    except OSError as error:
        raise StoreError(f"{error.filename or 'a file'}: {error.strerror or error}") from error


def _write(args: argparse.Namespace, url: URL) -> int:
    """Run a command that writes the database; one that is made for it goes again when the command fails."""
    path = sqlite_path(url)
    is_new = path is not None and not path.exists()
    if path is not None and is_new and args.store_command not in _SOURCES:
        raise MissingStoreError(path)
    if args.store_command in _SOURCES:
        _SOURCES[args.store_command](args)
    if path is not None and not is_new and args.store_command == "restore" and args.replace and not is_whole(path):
        return _restore_over_damage(args, url, path)
    if path is not None and not is_new:
        require_store(path)
    try:
        with disposed(open_engine(url, busy_timeout_s=10.0)) as engine:
            site = _enter(args, engine)
            folders = locate(url, site, args.robot, StoreConfig())
            if args.store_command in _SETTLED and folders.journal_waits:
                _replay(args)
            facts = _COMMANDS[args.store_command](args, engine, site, folders)
            show(args, facts)
            return 0 if facts.get("verified", True) else 2
    except BaseException:
        if is_new and path is not None:
            for file in database_files(path):
                file.unlink(missing_ok=True)
        raise


def _enter(args: argparse.Namespace, engine: Engine) -> str:
    """Return the site, of tables of this schema; on a server only what fills a site makes one."""
    if sqlite_path(engine.url) is not None or args.store_command in _SOURCES:
        return prepare(engine, args.site)
    make_tables(engine)
    return site_of(engine, args.site)


def _restore_over_damage(args: argparse.Namespace, url: URL, path: Path) -> int:
    """Restore into a new file in the place of a damaged one, which is kept; back in its place when that fails."""
    with nobody_else(url, args.site, args.robot, StoreConfig()):
        damaged = set_aside(path)
        path.unlink()
        try:
            status = _write(args, url)
        except BaseException:
            os.replace(damaged, path)
            raise
    print(f"the damaged file is kept as {damaged}", file=sys.stderr)
    return status


def _require_backup(args: argparse.Namespace) -> None:
    if args.source is None:
        url = parse_url(args.database or default_database())
        made = rotated_backups(locate(url, args.site, args.robot, StoreConfig()).backups)
        if not made:
            raise InvalidImportError("the store has made no backup by itself yet; name one")
        args.source = made[0]
    with open_backup(args.source):
        pass


def _replay(args: argparse.Namespace) -> None:
    """Bring what a stopped robot's journal still holds into the database first."""
    try:
        open_store(args.database or default_database(), args.robot, args.site).close()
    except StoreInUseError:
        print("a memory node is running, and what its journal holds is not in the database yet", file=sys.stderr)


def _backup(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> dict[str, Any]:
    backup(engine, site, args.target)
    return {"backup": str(args.target), "bytes": args.target.stat().st_size}


def _restore(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> dict[str, Any]:
    return {"backup": str(args.source), "restored": restore(engine, site, args.source, args.robot, args.replace)}


def _import(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> dict[str, Any]:
    take = exchange.import_parquet if args.source.is_dir() else exchange.import_jsonl
    counts = take(engine, site, args.source, args.robot)
    return {"imported": {name: count for name, count in counts.items() if count}}


def _forget(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> dict[str, Any]:
    first, last = map(_nanoseconds, args.span or ("0", "0"))
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
    if report.exports:
        print("exports made before still hold it: delete them", file=sys.stderr)
    return asdict(report)


def _nanoseconds(text: str) -> int:
    if text.isdigit():
        return int(text)
    try:
        # Python 3.10 does not read the Z of UTC.
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1e9)
    except ValueError as error:
        raise InvalidValueError(f"expected an ISO 8601 time or nanoseconds, got {text!r}") from error


def _take_over(args: argparse.Namespace, engine: Engine, site: str, folders: Folders) -> dict[str, Any]:
    with for_writing(engine.connect()) as connection, connection.begin():
        note_session(connection, site, args.robot, new_id(), system_clock())
    return {"robot": args.robot, "site": site, "host": socket.gethostname()}


def _distribute(args: argparse.Namespace, url: URL) -> int:
    if sqlite_path(url) is not None:
        raise InvalidValueError("distribute: expected a postgresql:// address")
    if args.grant and not args.rls:
        raise InvalidValueError("--grant goes with --rls")
    with disposed(open_engine(url)) as engine:
        with engine.connect() as connection:
            separate_only = args.rls and not has_citus(connection)
        done = [] if separate_only else distribute(engine)
        done += separate_sites(engine, [(role, site) for role, site in args.grant]) if args.rls else []
    show(args, {"done": done})
    return 0


# Commands that enter no site.
_WITHOUT_SITE: dict[str, Callable[[argparse.Namespace, URL], int]] = {
    "info": info,
    "check": check,
    "export": export,
    "distribute": _distribute,
}
# The others return what they print; forgetting that is not "verified" ends with 2.
_COMMANDS: dict[str, Callable[[argparse.Namespace, Engine, str, Folders], dict[str, Any]]] = {
    "backup": _backup,
    "restore": _restore,
    "import": _import,
    "forget": _forget,
    "compact": lambda args, engine, site, folders: dict(compact(engine, site)),
    "take-over": _take_over,
}
# Commands that must see everything that was acknowledged.
_SETTLED = ("backup", "forget", "compact")
# What looks at the file that a command takes from, before a database is made for it.
_SOURCES: dict[str, Callable[[argparse.Namespace], None]] = {
    "restore": _require_backup,
    "import": lambda args: exchange.require_export(args.source),
}
