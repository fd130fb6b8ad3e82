"""The store's commands that only read: info, check, export. No byte of the store changes."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

from sqlalchemy.engine import URL

from memory_node.domain.clock import system_clock
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.resources import create_private
from memory_node.domain.scene import SceneSnapshot, as_of, moments_of
from memory_node.store import exchange, graph_export, reader
from memory_node.store.bad_rows import BadRows
from memory_node.store.command_output import show, show_findings
from memory_node.store.config import StoreConfig
from memory_node.store.export_log import note_export
from memory_node.store.graph_export import GeoOrigin
from memory_node.store.inspection import OpenedStore, open_to_read
from memory_node.store.inventory import inventory
from memory_node.store.repair import findings_of, repair
from memory_node.view import open_views

FORMATS = ("jsonl", "parquet", "graphml", "geojson", "rrd", "mcap")


def info(args: argparse.Namespace, url: URL) -> int:
    """Say what the store holds."""
    with open_to_read(url, args.site, args.robot, StoreConfig()) as opened:
        show(args, inventory(opened))
    return 0


def check(args: argparse.Namespace, url: URL) -> int:
    """Say whether the store is whole; with --repair, mend it first."""
    config = StoreConfig()
    if args.discard and not args.repair:
        raise InvalidValueError("--discard goes with --repair")
    repaired = repair(url, args.site, args.robot, config, args.discard) if args.repair else None
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
    "graphml": lambda args, opened, bad: graph_export.export_graphml(_scene(opened, bad), args.target),
    "rrd": lambda args, opened, bad: _export_past(_scene(opened, bad), args.target, rrd=args.target),
    "mcap": lambda args, opened, bad: _export_past(_scene(opened, bad), args.target, mcap=args.target),
    "geojson": lambda args, opened, bad: graph_export.export_geojson(_scene(opened, bad), args.target, _origin(args)),
}
