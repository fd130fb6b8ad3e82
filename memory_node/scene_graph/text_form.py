"""The graph in words for a language model's prompt, in KARMA's form: one record per area, within a token budget."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import described, spoken
from memory_node.domain.context import estimate_tokens
from memory_node.domain.names import embedded_now
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import Area, Relation, RelationKind
from memory_node.domain.states import ObjectState
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import ROBOT_ID, GraphState


@dataclass(frozen=True)
class SceneText:
    """The graph in words, a line each. left_out: names of the areas that the budget had no room for, in order of
    relevance."""

    lines: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def scene_in_words(
    state: GraphState,
    places: Places,
    token_budget: int = 2000,
    near: tuple[float, float] | None = None,
    topic: str = "",
    embedder: TextEmbedder | None = None,
) -> SceneText:
    """Return one line per area, {name, type, contains, adjacent nodes, position}, then one per object that is in no
    area (without a map there are no areas), {name, position}, then the edges between the areas told. Of several things
    with the same words the number is told: "closed drawer (8)".

    Where there are several floors, a record names its floor too. Areas come in order of relevance: what they contain
    against `topic` (with an embedder), then distance from `near`. Lines that do not fit the budget are left out, the
    least relevant first.
    """
    contents, placeless = _contents(state)
    rooms = {room.id: room.name for room in places.rooms.values()}
    floors = {floor.id: floor.name for floor in places.floors.values()} if len(places.floors) > 1 else {}
    edges = [r for r in places.relations() if r.kind is RelationKind.NAVIGABLE]
    adjacent = _adjacent(edges, places.areas)
    order = _by_relevance(list(places.areas.values()), contents, near, topic, embedder)

    def area_line(area: Area) -> str:
        where = {"type": rooms.get(area.room_id) or "area"}
        if area.floor_id in floors:
            where["floor"] = floors[area.floor_id]
        return _area_line(area, where, contents.get(area.id, []), adjacent.get(area.id, []))

    lines, used = _within(token_budget, map(area_line, order))
    if near is not None:
        placeless.sort(key=lambda one: math.dist(one[0][:2], near))
    alone, spent = _within(token_budget - used, (_placeless_line(*one) for one in placeless))
    names = {area.id: area.name for area in order[: len(lines)]}
    told = (e for e in edges if e.source_id < e.target_id and e.source_id in names and e.target_id in names)
    ways = (f"{names[edge.source_id]} -- {names[edge.target_id]}: {edge.distance_m:.1f} m" for edge in told)
    left_out = tuple(area.name for area in order[len(lines) :])
    edge_lines, _ = _within(token_budget - used - spent, ways)
    return SceneText((*lines, *alone, *edge_lines), left_out)


def _within(token_budget: int, lines: Iterable[str]) -> tuple[list[str], int]:
    """Return the first lines that a budget holds, and their tokens."""
    kept: list[str] = []
    used = 0
    for line in lines:
        cost = estimate_tokens(line + "\n")
        if used + cost > token_budget:
            break
        kept.append(line)
        used += cost
    return kept, used


def _placeless_line(center: NDArray[np.float64], words: str) -> str:
    return json.dumps({"name": words, "position": np.round(center, 2).tolist()})


def _contents(state: GraphState) -> tuple[dict[str, list[str]], list[tuple[NDArray[np.float64], str]]]:
    """Return for each area its objects in words; and the centres and words of those that are in none."""
    contents: dict[str, list[str]] = {}
    placeless: list[tuple[NDArray[np.float64], str]] = []
    for row, words in _objects_in_words(state):
        if area_id := state.table.record(row).area_id:
            contents.setdefault(area_id, []).append(words)
        else:
            placeless.append((state.table.center[row], words))
    return contents, placeless


def _adjacent(edges: Iterable[Relation], areas: Mapping[str, Area]) -> dict[str, list[str]]:
    """Return for each area the names of those that a way leads to."""
    adjacent: dict[str, list[str]] = {}
    for edge in edges:
        if edge.target_id in areas:
            adjacent.setdefault(edge.source_id, []).append(areas[edge.target_id].name)
    return adjacent


def _objects_in_words(state: GraphState) -> Iterator[tuple[int, str]]:
    """Yield the row of each object that is there, and its words."""
    table = state.table
    rows = state.active_rows()
    doubtful = table.log_odds[rows] < 0.0
    codes = zip(table.class_code[rows].tolist(), table.state_code[rows].tolist(), doubtful.tolist())
    # A home has few kinds of things in few states: each is put in words once.
    words: dict[tuple[tuple[int, int, bool], str, bool], str] = {}
    for row, kind in zip(rows.tolist(), codes):
        record = table.record(row)
        carrier = record.support_id
        if carrier and carrier != ROBOT_ID:
            support_row = table.row_of.get(carrier)
            carrier = "" if support_row is None else table.record(support_row).best_class
        key = (kind, carrier, record.inside)
        if key not in words:
            states = [believed for believed, likely in table.state_sets[kind[1]] if likely]
            words[key] = _object_words(record.best_class, states, carrier, record.inside, kind[2])
        yield row, words[key]


def _object_words(name: str, states: Sequence[ObjectState], carrier: str, inside: bool, doubtful: bool) -> str:
    words = described(name, states)
    if carrier == ROBOT_ID:
        words += " held by the robot"
    elif carrier:
        words += f" {'in' if inside else 'on'} {spoken(carrier)}"
    return words + (" (perhaps gone)" if doubtful else "")


def _area_line(area: Area, where: dict[str, str], contents: list[str], adjacent: list[str]) -> str:
    record = {
        "name": area.name,
        **where,
        "contains": [name if count == 1 else f"{name} ({count})" for name, count in sorted(Counter(contents).items())],
        "adjacent nodes": sorted(set(adjacent)),
        "position": [round(area.position[0], 2), round(area.position[1], 2)],
    }
    return json.dumps(record)


def _by_relevance(
    areas: Sequence[Area],
    contents: dict[str, list[str]],
    near: tuple[float, float] | None,
    topic: str,
    embedder: TextEmbedder | None,
) -> list[Area]:
    score = np.zeros(len(areas))
    words = embedded_now(sorted({word for told in contents.values() for word in told}))
    if topic and embedder is not None and words:
        vectors = embedder.embed([topic, *words])
        alike = dict(zip(words, (vectors[1:] @ vectors[0]).tolist()))
        score += [
            2.0 * max((alike.get(word, 0.0) for word in contents.get(area.id, [])), default=0.0) for area in areas
        ]
    if near is not None and areas:
        distance = np.linalg.norm(np.array([area.position for area in areas]) - near, axis=1)
        score += np.exp(-distance / 4.0)
    score += [0.2 if contents.get(area.id) else 0.0 for area in areas]
    return [areas[i] for i in np.lexsort((np.arange(len(areas)), -score)).tolist()]
