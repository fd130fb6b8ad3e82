"""The scene graph for other programs: GraphML (Gephi, networkx, yEd) and GeoJSON (QGIS, web maps)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.store.exchange import private_file

if TYPE_CHECKING:
    import networkx as nx  # no other command of the store waits for it

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
