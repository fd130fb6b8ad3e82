"""Queries computed on the graph's columns answer as the straightforward way does, after a random life of the graph."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from plain_search import HashedWords

from memory_node.catalogue.class_name import folded, spoken
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import FindQuery
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import Area, Place, SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.questions.locate import LongTermSearch
from memory_node.scene_graph.edits import SceneEdits
from memory_node.scene_graph.graph import SceneGraph
from memory_node.search.glosses import ClassGlosses
from memory_node.search.ranker import Ranker
from memory_node.search.unit_index import UnitIndex

Choice = TypeVar("Choice")
SECOND_NS = 1_000_000_000
CLASSES = ("mug", "Mug", "CounterTop", "apple", "toy car")
STATES = (ObjectState.HEATED, ObjectState.SLICED, ObjectState.DIRTY, ObjectState.CLEANED)
RANKER = Ranker(HashedWords(), ClassGlosses.of(ObjectCatalogue("none", ())))
AREAS = ("area-1", "area-2", "area-3", "area-4")


class WordVectors:
    """Equal words are equal, and every other pair has a similarity of its own."""

    dimension = 6

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors (len(texts), 6) that depend on the letters."""
        vectors = [np.random.default_rng(list(text.encode())).uniform(-0.2, 1.0, 6) for text in texts]
        return np.array([v / np.linalg.norm(v) for v in vectors], dtype=np.float32)


class Life:
    """A graph to which random things happen."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.graph = SceneGraph(embedder=WordVectors() if seed % 2 else None)
        self.edits = SceneEdits(self.graph.state, self.graph.places)
        self.stamp_ns = SECOND_NS
        for number, area_id in enumerate(AREAS[:3]):
            area = Area(area_id, area_id, (2.0 * number, 0.0), last_viewed_ns=number * 3600 * SECOND_NS)
            self.graph.places.areas[area_id] = area

    def live(self, steps: int) -> None:
        """Do `steps` random things."""
        happenings = (self.enter, self.enter, self.see, self.see, self.handle, self.edit, self.forget)
        for _ in range(steps):
            self.stamp_ns += int(self.random.integers(1, 2 * 3600)) * SECOND_NS
            happenings[int(self.random.integers(len(happenings)))]()

    def pick(self, choices: Sequence[Choice]) -> Choice:
        """Return one of the choices."""
        return choices[int(self.random.integers(len(choices)))]

    def any_id(self) -> str:
        """Return the id of any object, removed ones included."""
        return self.pick(list(self.graph.state.table.row_of) or [""])

    def box(self) -> OrientedBox:
        """Return a small box anywhere."""
        return OrientedBox(self.random.uniform(0.0, 6.0, 3), self.random.uniform(0.05, 0.2, 3), 0.3)

    def enter(self) -> None:
        """Enter a thing that is known from elsewhere, with a history."""
        end = self.stamp_ns - SECOND_NS
        place = Place(SECOND_NS // 2, end, self.box(), self.pick(AREAS))
        removed = self.random.random() < 0.3
        self.graph.add_object(
            SceneObject(
                f"id-{self.stamp_ns}-{self.random.integers(10)}",
                {self.pick(CLASSES): 0.7, "thing": 0.3},
                self.box(),
                np.eye(3) * 1e-3,
                float(self.random.choice([0.1, 0.6, 0.95])),
                SECOND_NS // 2,
                self.stamp_ns,
                area_id=self.pick((*AREAS, "")),
                removed=removed,
                history=(place,) if removed or self.random.random() < 0.5 else (),
                states=(StateBelief(self.pick(STATES), 0.7, end),) if self.random.random() < 0.5 else (),
            )
        )

    def see(self) -> None:
        """See two things, new or known."""
        known = [found.box for found in self.graph.objects()][-3:]
        boxes = [*known[:1], self.box()]
        beliefs = (StateBelief(self.pick(STATES), float(self.random.uniform()), self.stamp_ns),)
        seen = [ObjectObservation({self.pick(CLASSES): 0.9}, box, np.eye(3) * 1e-4, states=beliefs) for box in boxes]
        self.graph.observe(Frame(self.stamp_ns, Pose.planar(0.0, 0.0, 0.0, 1.3), None, tuple(seen)))

    def handle(self) -> None:
        """Let a skill move a thing, or change its states."""
        change = StateChange(self.any_id() or "new", self.pick(CLASSES), self.stamp_ns, added=(self.pick(STATES),))
        held = bool(self.random.integers(2))
        position = None if held else tuple(self.random.uniform(0.0, 6.0, 3).tolist())
        self.graph.apply_change(replace(change, held=held, position=position, probability=0.9))

    def edit(self) -> None:
        """Let a person correct something."""
        one, other = self.any_id(), self.any_id()
        if one != other and self.random.random() < 0.3:
            self.edits.merge(one, other)
        elif one and self.random.random() < 0.5:
            self.edits.relabel(one, self.pick((*CLASSES, "vase")))
        elif one:
            self.edits.split(one, (1.0, 1.0, 1.0))

    def forget(self) -> None:
        """Erase a thing, or take it out of the present."""
        if object_id := self.any_id():
            if self.random.random() < 0.5:
                self.edits.forget([object_id])
            else:
                self.edits.delete(object_id)

    def query(self) -> FindQuery:
        """Return a random query."""
        chance = self.random.random(7) < (0.6, 0.4, 0.3, 0.3, 0.5, 0.4, 0.3)
        return FindQuery(
            text=self.pick(("a hot mug", "mug", "apple", "dirty counter top")) if chance[0] else "",
            object_class=self.pick(("mug", "apple", "counter_top", "nothing")) if chance[1] else "",
            states=(self.pick(STATES),) if chance[2] else (),
            area_id=self.pick(AREAS[:3]) if chance[3] else "",
            near=(2.0, 3.0, 1.0) if chance[4] else None,
            k=int(self.random.integers(1, 6)),
            as_of_ns=int(self.random.integers(self.stamp_ns)) if chance[5] else 0,
            exclude_ids=frozenset({self.any_id(), "unknown"}) if chance[6] else frozenset(),
        )


def units(graph: SceneGraph, stamp_ns: int = 0) -> UnitIndex:
    """Return the objects that a graph holds, or held at a stamp, as a short-term memory."""
    objects = graph.snapshot(stamp_ns).objects if stamp_ns else graph.objects(removed=True)
    index = UnitIndex(RANKER)
    for found in objects:
        room, support = graph.room_name(found.area_id), graph.class_of(found.support_id)
        index.put(MemoryUnit.of_object(found, room, support))
    return index


# The short-term memory keeps its vectors in bytes.
OFF_BY = 1e-3


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_both_memories_rank_the_same_things_alike(seed: int) -> None:
    life = Life(seed)
    search = LongTermSearch(life.graph, RANKER, threading.RLock())
    answered = 0
    for _ in range(12):
        life.live(15)
        for _ in range(8):
            query, now_ns = life.query(), life.stamp_ns + SECOND_NS
            found = search.find(query, now_ns)
            recalled = units(life.graph, query.as_of_ns).rank(query, now_ns)
            scores = [answer.score for answer in found.answers]
            assert [answer.score for answer in recalled.answers] == pytest.approx(scores, abs=OFF_BY)
            assert found.status == recalled.status
            tied = any(better - worse <= OFF_BY for better, worse in pairwise(scores))
            if not tied and len(found.answers) < query.k:
                assert [a.object_id for a in found.answers] == [a.object_id for a in recalled.answers]
            answered += len(found.answers)
    assert answered > 50


def test_answers_as_of_then_tell_the_place_of_then() -> None:
    life = Life(4)
    life.live(150)
    then = {found.id: found for found in life.graph.snapshot(life.stamp_ns // 2).objects}
    search = LongTermSearch(life.graph, RANKER, threading.RLock())
    answers = search.find(FindQuery(k=1000, as_of_ns=life.stamp_ns // 2), life.stamp_ns).answers
    assert {answer.object_id for answer in answers} == set(then)
    for answer in answers:
        assert np.array_equal(answer.position, then[answer.object_id].box.center)
        assert (answer.area_id, answer.last_seen_ns) == (
            then[answer.object_id].area_id,
            then[answer.object_id].last_seen_ns,
        )


def likely_areas(graph: SceneGraph, object_class: str, now_ns: int) -> dict[str, tuple[float, str]]:
    """Return the weight of each area and why, object after object."""
    areas = graph.places.areas
    weight = dict.fromkeys(areas, 0.2)
    reason = {i: "part of the home" if area.last_viewed_ns else "not looked at yet" for i, area in areas.items()}
    likeness: dict[str, float] = dict.fromkeys(areas, 0.0)
    objects = graph.objects(removed=True)
    for found in objects:
        if graph.embedder is not None and not found.removed and found.area_id in areas:
            one, other = graph.embedder.embed([spoken(object_class), spoken(found.class_name)])
            if np.clip(one @ other, 0.0, 1.0) > likeness[found.area_id] + 1e-6:
                likeness[found.area_id] = float(np.clip(one @ other, 0.0, 1.0))
                if likeness[found.area_id] > 0.3:
                    reason[found.area_id] = f"{spoken(found.class_name)} is there"
    for area_id in areas:
        weight[area_id] += 4.0 * likeness[area_id] ** 2
    for found in objects:
        if folded(found.class_name) == folded(object_class):
            places = [(found.area_id, found.last_seen_ns, found.existence * (0.3 if found.removed else 1.0))]
            for area_id, stamp_ns, trust in [*places, *((p.area_id, p.until_ns, 0.3) for p in found.history)]:
                if area_id in areas:
                    days = max(0.0, (now_ns - stamp_ns) / 3.6e12) / 24.0
                    weight[area_id] += 8.0 * trust * (0.25 + 0.75 * 0.5**days)
                    reason[area_id] = f"{spoken(object_class)} was seen there"
    for area_id, area in areas.items():
        if area.last_viewed_ns:
            weight[area_id] *= 1.0 - 0.7 * np.exp(-(now_ns - area.last_viewed_ns) / 3.6e12)
    return {area_id: (weight[area_id], reason[area_id]) for area_id in areas}


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_areas_are_ranked_as_going_through_every_object_does(seed: int) -> None:
    life = Life(seed)
    for _ in range(12):
        life.live(15)
        now_ns = life.stamp_ns + 3600 * SECOND_NS
        for object_class in ("mug", "CounterTop", "vase", "apple"):
            expected = likely_areas(life.graph, object_class, now_ns)
            ranked = life.graph.rank_search_areas(object_class, now_ns=now_ns)
            total = sum(weight for weight, _ in expected.values())
            assert {a.area_id: a.reason for a in ranked} == {i: reason for i, (_, reason) in expected.items()}
            assert {a.area_id: a.probability for a in ranked} == pytest.approx(
                {i: weight / total for i, (weight, _) in expected.items()}, rel=1e-5
            )
            assert [a.probability for a in ranked] == sorted((a.probability for a in ranked), reverse=True)
            assert life.graph.rank_search_areas(object_class, 2, now_ns) == ranked[:2]
