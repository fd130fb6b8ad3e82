"""Export and import of a site's facts: JSON Lines in one file, Parquet in a folder with one file a table."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.errors import InvalidValueError, RobotMemoryError, StoreError
from memory_node.domain.resources import create_private, make_private_folder
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.store import copying, schema
from memory_node.store.apply import next_revision, notify
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import SEALS
from memory_node.store.engine import for_writing
from memory_node.store.errors import InvalidImportError
from memory_node.store.reader import reading
from memory_node.store.records import Row, with_bytes_packed, with_bytes_unpacked
from memory_node.store.row_values import OBJECT_GEOMETRY, fault_of

if TYPE_CHECKING:
    import networkx as nx  # no other command of the store waits for it

# What no database takes as text.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_row(table: sa.Table, row: Any) -> Row:
    """Return the row if the table and the domain can hold it.

    Raises:
        InvalidImportError: it says which value was expected and what came.
    """
    if not isinstance(row, dict):
        raise InvalidImportError(f"{table.name}: expected an object, got {type(row).__name__}")
    names = {column.name for column in table.c}
    # Exports of the first release had no checksums.
    row = {**dict.fromkeys(names & {"checksum", "crop_checksum"}), **row}
    if set(row) != names:
        missing, unknown = sorted(names - set(row)), sorted(set(row) - names)
        raise InvalidImportError(f"{table.name}: missing {missing or 'nothing'}, unknown {unknown or 'nothing'}")
    for column in table.c:
        _check_value(table, column, row[column.name])
    fault = SEALS[table.name].fault([row[name] for name in SEALS[table.name].names])
    fault = fault or fault_of(table.name, SimpleNamespace(**row))
    if fault:
        raise InvalidImportError(f"{table.name}: {fault}")
    if table.name == "objects":
        try:
            check_agreement(row)
        except (RobotMemoryError, ValueError) as error:
            raise InvalidImportError(f"objects: {error}") from error
    return row


def _check_value(table: sa.Table, column: sa.Column, value: Any) -> None:
    """Look whether a value is of the type of its column; how large it may be is looked at afterwards."""
    expected = column.type.python_type
    fits = column.nullable if value is None else type(value) is expected or (expected, type(value)) == (float, int)
    if not fits or (isinstance(value, str) and _UNSTORABLE.search(value)):
        shown = f"{expected.__name__}{' without NUL and surrogates' if expected is str else ''}"
        raise InvalidImportError(f"{table.name}.{column.name}: expected {shown}, got {str(value)[:40]!r}")


def check_agreement(row: Row) -> None:
    """Look whether the columns of an object agree with its body.

    Raises:
        InvalidValueError: they do not.
    """
    numbers, body = OBJECT_GEOMETRY.unpack(row["geometry"]), json.loads(row["body"])
    if not row["id"]:
        raise InvalidValueError("expected an id, got an empty string")
    if max(body["classes"], key=lambda name: body["classes"][name]) != row["class_name"]:
        raise InvalidValueError(f"object {row['id']}: class_name {row['class_name']!r} is not the most probable")
    if not np.allclose(numbers[0:3], [row["x"], row["y"], row["z"]]):
        raise InvalidValueError(f"object {row['id']}: position and geometry differ")


FORMAT = "robot_memory"
# One line may hold an object with its picture, not a film.
_MAX_LINE_BYTES = 64 * 2**20
_TABLES = {table.name: table for table in schema.LOGGED}
# The first release's exports lack checksums and are the same otherwise.
_READABLE = ("0001", "0002", "0003", schema.SCHEMA_VERSION)


@contextmanager
def private_file(path: Path) -> Iterator[IO[str]]:
    """Give a text file of mode 0600 that appears under its name only when it is whole."""
    partial = path.with_name(path.name + ".part")
    partial.unlink(missing_ok=True)
    create_private(partial)
    try:
        with open(partial, "w", encoding="utf-8") as file:
            yield file
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def export_jsonl(engine: Engine, site: str, path: Path, bad: BadRows) -> int:
    """Write all facts, a header line first; return the number of facts. bad: gets the rows that cannot be read."""
    count = 0
    with private_file(path) as file, reading(engine, lenient=True) as connection:
        header = {"format": FORMAT, "schema": schema.SCHEMA_VERSION, "site": site}
        file.write(json.dumps(header) + "\n")
        for table in schema.LOGGED:
            for row in copying.good_rows(connection, site, table, bad):
                plain = {name: with_bytes_packed(value) for name, value in row.items()}
                file.write(json.dumps({"table": table.name, "row": plain}, separators=(",", ":")) + "\n")
                count += 1
    return count


def import_jsonl(engine: Engine, site: str, path: Path, robot_id: str) -> dict[str, int]:
    """Take over the facts of a file that this site does not have; return the new rows by table. All or nothing.

    Raises:
        InvalidImportError: the first line that cannot be taken, by its number.
    """
    require_export(path)
    with open(path, "rb") as file:
        file.readline(_MAX_LINE_BYTES)
        with for_writing(engine.connect()) as connection, connection.begin():
            return _insert(connection, site, _rows_by_table(file), robot_id)


def require_export(source: Path) -> None:
    """Look whether a file or folder is an export of ours, before anything is made for it.

    Raises:
        InvalidImportError: it is not.
    """
    if source.is_dir():
        if not any((source / f"{name}.parquet").is_file() for name in _TABLES):
            raise InvalidImportError(f"{source} holds no Parquet file of robot_memory")
        return
    if not source.is_file():
        raise InvalidImportError(f"there is no {source}")
    if not source.stat().st_size:
        raise InvalidImportError(f"{source} is empty (0 bytes)")
    with open(source, "rb") as file:
        line = file.readline(_MAX_LINE_BYTES)
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    _check_header(header, source)


def _check_header(header: Any, path: Path) -> None:
    """Refuse a file of another program or schema with an InvalidImportError."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InvalidImportError(f"{path} is no export of robot_memory")
    if header.get("schema") not in _READABLE:
        raise InvalidImportError(
            f"{path} was exported with schema {header.get('schema')}, this program has {schema.SCHEMA_VERSION}"
        )


def _rows_by_table(file: IO[bytes]) -> Iterator[tuple[sa.Table, Row]]:
    for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), 2):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidImportError(f"line {number}: expected JSON: {error}") from error
        table = _TABLES.get(str(found.get("table"))) if isinstance(found, dict) else None
        if table is None or not isinstance(found.get("row"), dict):
            raise InvalidImportError(f"line {number}: expected a table of the store and a row")
        try:
            row = {name: with_bytes_unpacked(value) for name, value in found["row"].items()}
            yield table, check_row(table, row)
        except (InvalidImportError, ValueError) as error:
            raise InvalidImportError(f"line {number}: {error}") from error


def _insert(connection: Connection, site: str, rows: Iterator[tuple[sa.Table, Row]], robot_id: str) -> dict[str, int]:
    revision = next_revision(connection, site)
    counts = dict.fromkeys(_TABLES, 0)
    for table, group in groupby(rows, key=lambda pair: pair[0]):
        counts[table.name] += copying.insert_rows(connection, site, table, (row for _, row in group), revision)
    notify(connection, site, robot_id, revision)
    return counts


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise StoreError("Parquet needs pyarrow: pip install 'robot_memory[export]'") from error
    return pyarrow, pyarrow.parquet


def _arrow_schema(pyarrow: Any, table: sa.Table, site: str) -> Any:
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    types[bytes] = pyarrow.binary()
    fields = [pyarrow.field(c.name, types[c.type.python_type], nullable=bool(c.nullable)) for c in table.c]
    return pyarrow.schema(fields, {"format": FORMAT, "schema": schema.SCHEMA_VERSION, "site": site})


def export_parquet(engine: Engine, site: str, folder: Path, bad: BadRows) -> int:
    """Write all facts to `folder`/TABLE.parquet, zstd-coded; return the number of facts. bad: as of `export_jsonl`."""
    pyarrow, parquet = _parquet()
    make_private_folder(folder)
    count = 0
    with reading(engine, lenient=True) as connection:
        for table in schema.LOGGED:
            path = folder / f"{table.name}.parquet"
            path.unlink(missing_ok=True)
            create_private(path)
            layout = _arrow_schema(pyarrow, table, site)
            # No checksum covers statistics, which no import needs: without them every damaged byte is noticed.
            checked = {"write_page_checksum": True, "write_statistics": False}
            with parquet.ParquetWriter(path, layout, compression="zstd", **checked) as writer:
                for chunk in copying.chunks_of(copying.good_rows(connection, site, table, bad)):
                    writer.write_table(pyarrow.Table.from_pylist(chunk, layout))
                    count += len(chunk)
    return count


def import_parquet(engine: Engine, site: str, folder: Path, robot_id: str) -> dict[str, int]:
    """Take over the facts of a folder that this site does not have; return the new rows by table. All or nothing.

    Raises:
        InvalidImportError: a file is damaged, of another schema, or holds what memory cannot take.
    """
    require_export(folder)
    with for_writing(engine.connect()) as connection, connection.begin():
        return _insert(connection, site, _parquet_rows(folder), robot_id)


def _parquet_rows(folder: Path) -> Iterator[tuple[sa.Table, Row]]:
    pyarrow, parquet = _parquet()
    for table in schema.LOGGED:
        path = folder / f"{table.name}.parquet"
        if not path.is_file():
            continue
        try:
            with parquet.ParquetFile(path, page_checksum_verification=True) as file:
                noted = {key.decode(): value.decode() for key, value in (file.schema_arrow.metadata or {}).items()}
                _check_header(noted, path)
                for batch in file.iter_batches(copying.CHUNK):
                    for row in batch.to_pylist():
                        yield table, check_row(table, row)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            # Damage comes as any of these, by the layer that meets it.
            raise InvalidImportError(f"{path}: {error}") from error


# WGS 84.
_EQUATOR_RADIUS_M = 6_378_137.0
_ECCENTRICITY_SQUARED = 6.694379990141e-3


@dataclass(frozen=True)
class GeoOrigin:
    """Where the map's origin lies in degrees (WGS 84), and where its x axis points: radians from east to north."""

    latitude_deg: float
    longitude_deg: float
    heading_rad: float = 0.0

    def __post_init__(self) -> None:
        if not (abs(self.latitude_deg) < 89.0 and abs(self.longitude_deg) <= 180.0):
            raise InvalidValueError(
                f"GeoOrigin: expected latitude within 89 and longitude within 180 degrees, got {self}"
            )

    def place(self, x_m: float, y_m: float) -> tuple[float, float]:
        """Return (longitude, latitude) of a point of the map, on the tangent plane: 2 mm wrong 100 m away."""
        cos, sin = math.cos(self.heading_rad), math.sin(self.heading_rad)
        east_m, north_m = cos * x_m - sin * y_m, sin * x_m + cos * y_m
        latitude = math.radians(self.latitude_deg)
        square = 1.0 - _ECCENTRICITY_SQUARED * math.sin(latitude) ** 2
        normal_m = _EQUATOR_RADIUS_M / math.sqrt(square)
        meridian_m = normal_m * (1.0 - _ECCENTRICITY_SQUARED) / square
        longitude_deg = self.longitude_deg + math.degrees(east_m / (normal_m * math.cos(latitude)))
        return longitude_deg, self.latitude_deg + math.degrees(north_m / meridian_m)


def graph_of(scene: SceneSnapshot) -> nx.MultiDiGraph:
    """Return the scene graph as a networkx graph: floors, rooms, areas, objects and all relations."""
    import networkx as nx

    graph = nx.MultiDiGraph(frame_id=scene.frame_id, version=scene.version)
    for floor in scene.floors:
        graph.add_node(floor.id, kind="floor", name=floor.name, z=floor.height_m)
    for room in scene.rooms:
        graph.add_node(room.id, kind="room", name=room.name, x=room.center[0], y=room.center[1], area_m2=room.area_m2)
    for area in scene.areas:
        graph.add_node(area.id, kind="area", name=area.name, x=area.position[0], y=area.position[1])
    for thing in scene.objects:
        graph.add_node(thing.id, kind="object", name=thing.class_name, **_facts(thing))
    _add_containment(graph, scene)
    for relation in scene.relations:
        if relation.source_id in graph and relation.target_id in graph:
            facts = {"distance_m": relation.distance_m, "probability": relation.probability}
            graph.add_edge(
                relation.source_id, relation.target_id, key=relation.kind.value, kind=relation.kind.value, **facts
            )
    return graph


def _facts(thing: SceneObject) -> dict[str, Any]:
    x, y, z = (float(value) for value in thing.box.center)
    facts = {"x": x, "y": y, "z": z, "existence": thing.existence, "last_seen_ns": thing.last_seen_ns}
    return {**facts, "removed": thing.removed, "states": " ".join(b.state.value for b in thing.states)}


def _add_containment(graph: nx.MultiDiGraph, scene: SceneSnapshot) -> None:
    pairs = [(room.floor_id, room.id, "contains") for room in scene.rooms]
    pairs += [(area.room_id or area.floor_id, area.id, "contains") for area in scene.areas]
    pairs += [(thing.area_id, thing.id, "contains") for thing in scene.objects]
    pairs += [(thing.id, thing.support_id, "in" if thing.inside else "on") for thing in scene.objects]
    for source, target, kind in pairs:
        if source in graph and target in graph:
            graph.add_edge(source, target, key=kind, kind=kind)


def export_graphml(scene: SceneSnapshot, path: Path) -> int:
    """Write the graph; return the number of its nodes."""
    import networkx as nx

    graph = graph_of(scene)
    with private_file(path) as file:
        file.writelines(line + "\n" for line in nx.generate_graphml(graph))
    return graph.number_of_nodes()


def export_geojson(scene: SceneSnapshot, path: Path, origin: GeoOrigin | None = None) -> int:
    """Write objects as footprints, areas and rooms as points, ways as lines (RFC 7946); return the features' number.

    Without an origin the coordinates are metres of the map frame, which the file says in "coordinate_frame".
    """

    def place(x_m: float, y_m: float) -> list[float]:
        return list(origin.place(x_m, y_m)) if origin else [float(x_m), float(y_m)]

    features = [_feature(area.id, "Point", place(*area.position), kind="area", name=area.name) for area in scene.areas]
    features += [_feature(room.id, "Point", place(*room.center), kind="room", name=room.name) for room in scene.rooms]
    for thing in scene.objects:
        ring = [place(*corner) for corner in thing.box.footprint()]
        facts = {"kind": "object", "name": thing.class_name, **_facts(thing), "height_m": float(thing.box.size[2])}
        features.append(_feature(thing.id, "Polygon", [[*ring, ring[0]]], **facts))
    spots = {area.id: area.position for area in scene.areas}
    for way in scene.relations:
        if way.kind.value == "navigable" and way.source_id in spots and way.target_id in spots:
            line = [place(*spots[way.source_id]), place(*spots[way.target_id])]
            name = f"{way.source_id} {way.target_id}"
            features.append(_feature(name, "LineString", line, kind="navigable", distance_m=way.distance_m))
    frame = "WGS 84" if origin else f"{scene.frame_id} (metres)"
    with private_file(path) as file:
        json.dump({"type": "FeatureCollection", "coordinate_frame": frame, "features": features}, file)
    return len(features)


def _feature(record_id: str, shape: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": shape, "coordinates": coordinates}
    return {"type": "Feature", "id": record_id, "geometry": geometry, "properties": properties}
