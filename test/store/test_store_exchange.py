"""Export and import, and that nothing bad comes in."""

import json
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

from memory_node.store.bad_rows import BadRows
from memory_node.store.errors import InvalidImportError
from memory_node.store.exchange import (
    GeoOrigin,
    export_geojson,
    export_graphml,
    export_jsonl,
    export_parquet,
    import_jsonl,
    import_parquet,
)
from memory_node.store.store import Store

TABLE, MUG, PILLS = "0191-table", "0191-mug", "0191-pills"

WAYS = {"jsonl": (export_jsonl, import_jsonl), "parquet": (export_parquet, import_parquet)}


@pytest.fixture
def home(open_at: Callable[..., Store], remember_home: Callable[[Store], None], tmp_path: Path) -> Store:
    store = open_at(str(tmp_path / "home.db"), "r1")
    remember_home(store)
    return store


@pytest.mark.parametrize("way", list(WAYS))
def test_export_and_import_keep_everything(way, home, open_at, store_url, tmp_path):
    exporting, importing = WAYS[way]
    path = tmp_path / f"home.{way}"
    assert exporting(home._engine, home.site, path, BadRows()) > 20
    copy = open_at(store_url, "r2")
    counts = importing(copy._engine, copy.site, path, "r2")
    assert counts["objects"] == 3
    assert copy.steps() == home.steps()
    assert copy.episodes() == home.episodes()
    assert copy.documents("proposition") == home.documents("proposition")
    mine, theirs = copy.load_scene(), home.load_scene()
    assert mine.areas == theirs.areas
    assert mine.relations == theirs.relations
    assert [o.crop_jpeg for o in mine.objects] == [o.crop_jpeg for o in theirs.objects]
    again = importing(copy._engine, copy.site, path, "r2")
    assert sum(again.values()) == 0


def edited(line, **changes):
    found = json.loads(line)
    # Without its checksum, which would give each change away before the value is looked at.
    found["row"].update(changes, checksum=None)
    return json.dumps(found)


BAD = {
    "not JSON": lambda line: line[:-5],
    "another table": lambda line: line.replace('"objects"', '"sqlite_master"'),
    "a missing column": lambda line: line.replace('"existence"', '"existense"'),
    "a number that is none": lambda line: edited(line, existence="very"),
    "existence of 7": lambda line: edited(line, existence=7.0),
    "short geometry": lambda line: edited(line, geometry={"base64": "AAAA"}),
    "base64 of a number": lambda line: edited(line, geometry={"base64": 5}),
    "a list of tables": lambda line: line.replace('"table":"objects"', '"table":["objects"]'),
    "half a character": lambda line: edited(line, area_id="\ud800"),
    "broken base64": lambda line: edited(line, geometry={"base64": "!"}),
    "a class that is not the most probable": lambda line: edited(line, class_name="dragon"),
    "NaN": lambda line: edited(line, x=float("nan")),
    "too large a number": lambda line: edited(line, last_seen_ns=2**64),
    "a body of another shape": lambda line: edited(line, body='{"classes": {"mug": 1.0}}'),
}


@pytest.mark.parametrize("fault", list(BAD))
def test_bad_line_is_named_and_nothing_is_imported(fault, home, open_at, tmp_path):
    path = tmp_path / "home.jsonl"
    export_jsonl(home._engine, home.site, path, BadRows())
    lines = path.read_text().splitlines()
    number = next(n for n, line in enumerate(lines) if json.loads(line).get("table") == "objects" and PILLS in line)
    lines[number] = BAD[fault](lines[number])
    path.write_text("\n".join(lines) + "\n")
    copy = open_at(str(tmp_path / "copy.db"), "r2")
    with pytest.raises(InvalidImportError, match=f"line {number + 1}:"):
        import_jsonl(copy._engine, copy.site, path, "r2")
    assert copy.load_scene().objects == ()
    assert copy.load_scene().floors == ()


def test_damaged_parquet_is_named_and_nothing_is_imported(home, open_at, tmp_path):
    whole = tmp_path / "whole"
    export_parquet(home._engine, home.site, whole, BadRows())
    size = (whole / "objects.parquet").stat().st_size
    copy = open_at(str(tmp_path / "copy.db"), "r2")
    for start in range(4, size // 2, size // 12):  # the pages; behind them lie statistics that an import does not need
        data = bytearray((whole / "objects.parquet").read_bytes())
        data[start : start + 8] = bytes(255 - byte for byte in data[start : start + 8])
        damaged = tmp_path / f"damaged_at_{start}"
        shutil.copytree(whole, damaged)
        (damaged / "objects.parquet").write_bytes(data)
        with pytest.raises(InvalidImportError, match=r"objects\.parquet: "):
            import_parquet(copy._engine, copy.site, damaged, "r2")
        assert copy.load_scene().floors == ()


def test_export_of_another_schema_is_refused(home, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"format": "robot_memory", "schema": "9999", "site": "home"}\n')
    with pytest.raises(InvalidImportError, match="9999"):
        import_jsonl(home._engine, home.site, path, "r1")
    path.write_text("[]\n")
    with pytest.raises(InvalidImportError, match="no export"):
        import_jsonl(home._engine, home.site, path, "r1")


def test_graphml_holds_every_node_and_its_relations(home, tmp_path):
    path = tmp_path / "home.graphml"
    assert export_graphml(home.load_scene(), path) == 8
    graph = nx.read_graphml(path, force_multigraph=True)
    assert graph.nodes[MUG]["name"] == "mug"
    assert {(u, v, d["kind"]) for u, v, d in graph.edges(data=True)} >= {
        ("a1", "a2", "navigable"),
        (MUG, TABLE, "on"),
        (MUG, PILLS, "near"),
        ("a1", MUG, "contains"),
        ("r1", "a1", "contains"),
        ("f1", "r1", "contains"),
    }
    assert ElementTree.parse(path).getroot().tag.endswith("graphml")


def test_geojson_has_closed_footprints_where_they_are(home, tmp_path):
    path = tmp_path / "home.geojson"
    count = export_geojson(home.load_scene(), path, GeoOrigin(48.0, 11.0))
    found = json.loads(path.read_text())
    assert len(found["features"]) == count == 8
    mug = next(f for f in found["features"] if f["id"] == MUG)
    ring = mug["geometry"]["coordinates"][0]
    assert ring[0] == ring[-1]
    longitude, latitude = (sum(corner[axis] for corner in ring[:4]) / 4 for axis in (0, 1))
    # At 48 degrees north a degree is 74,628 m east-west and 111,200 m north-south (WGS 84).
    assert (longitude - 11.0) * 74_628 == pytest.approx(1.0, abs=1e-3)
    assert (latitude - 48.0) * 111_200 == pytest.approx(2.0, abs=1e-3)
