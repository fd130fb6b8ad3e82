"""`bench knowledge --home`: instructions that need what people told, with and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.knowledge_rankers import NoLog
from benchmarks.plain_commands import effects
from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.recalled import Recalled
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.told.fact import ToldFact
from memory_node.knowledge.told.forms import TellingReader
from memory_node.planner.open_planner import open_understander
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.plain_reader import Known, PlainReader
from memory_node.planner.reading.understanding import Understander
from memory_node.planner.told_limits import ToldLimits

CHECKS = Path(__file__).parent / "checks"
_CASES = tuple(
    CHECKS / f"told_facts{name}.yaml"
    for name in ("", "_plain", "_family", "_flat", "_care", "_visit", "_inn", "_club", "_studio", "_sixth")
)
_QUESTION = ("question",)
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class HomeReader:
    """Reads instructions as the offline planner does, in a home that has one thing of each class."""

    understander: Understander
    plain: PlainReader
    kinds: ObjectCatalogue
    scene: SceneSnapshot

    def read(self, instruction: str, facts: Sequence[ToldFact], now_ns: int) -> tuple[Sequence[str], str]:
        """Return what an instruction's goals bring about, ("question",) for a question, and what is said with it."""
        known = Known(Recalled(tuple(facts)), lambda: now_ns, str)
        limits = ToldLimits(facts, lambda: self.scene, self.kinds, known.clock)
        read = self.plain.read(instruction, self.scene, known)
        if read is not None and read.question is not None:
            return _QUESTION, read.question.text
        goals, said = (read.goals, read.notes) if read is not None else (self._otherwise(instruction), ())
        verdict = limits.of_goals(goals)
        if verdict.question or not goals:
            return _QUESTION, verdict.question
        return effects(goals), " ".join((*said, *verdict.notes))

    def _otherwise(self, instruction: str) -> Sequence[Any]:
        home = HomeClasses(
            frozenset(kind.name for kind in self.kinds if kind.pickupable),
            frozenset(kind.name for kind in self.kinds if not kind.pickupable),
        )
        read = self.understander.understand(instruction, home)
        return read.goals if read.question is None and not read.refused else ()


def home_rows(embedder: TextEmbedder) -> Iterator[dict[str, Any]]:
    """Yield for each file of cases a row with what was told and one without.

    success_rate: instructions that were read as they are meant, a question where one is due; asked: questions where
    none is due; silent: acts that were not meant, without a word of what was told; failed: all that were read otherwise
    than they are meant.
    """
    kinds = load_catalogue(HOUSEHOLD)
    everything = SceneSnapshot(0, objects=tuple(map(_thing, kinds.names)))
    reader = HomeReader(open_understander(kinds, embedder), PlainReader(kinds), kinds, everything)
    for path in _CASES:
        groups = yaml.safe_load(path.read_text(encoding="utf-8"))
        for knows in (True, False):
            yield {"cases": path.stem, "knowledge": knows, **_measured(groups, knows, embedder, reader)}


def _measured(
    groups: Sequence[Mapping[str, Any]], knows: bool, embedder: TextEmbedder, reader: HomeReader
) -> dict[str, Any]:
    forms = TellingReader(reader.kinds)
    graph = KnowledgeGraph(
        embedder, NoLog(), read_facts=lambda said, step: forms.read(said, step.stamp_ns, step.subject).facts
    )
    right, asked, silent, failed, count = 0, 0, 0, [], 0
    for number, group in enumerate(groups, 1):
        for place, fact in enumerate(group["told"]):
            graph.tell(fact, stamp_ns=(100 * number + place) * _SECOND_NS)
        for case in group["ask"]:
            facts = graph.facts() if knows else []
            read, said = reader.read(case["say"], facts, (100 * number + 99) * _SECOND_NS)
            unread = ToldLimits(facts, lambda: reader.scene, reader.kinds, lambda: 0).unread(
                [one.text for one in graph.told_facts(case["say"])] if knows else []
            )
            count += 1
            right += tuple(read) == tuple(case["want"])
            asked += read == _QUESTION != tuple(case["want"])
            if tuple(read) != tuple(case["want"]):
                silent += read != _QUESTION and not said and not unread
                failed.append(f"{case['say']}: {'; '.join(read)}")
    shares = {"success_rate": right / count, "asked": asked / count, "silent": silent / count}
    return {"instructions": count, **shares, "failed": failed}


def _thing(name: str) -> SceneObject:
    box = OrientedBox(np.zeros(3), np.ones(3))
    return SceneObject(name.lower(), {name: 1.0}, box, np.eye(3), 1.0, 0, 1)
