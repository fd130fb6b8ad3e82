"""`bench knowledge --home`: instructions that need what people told, with and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from benchmarks.knowledge_rankers import NoLog
from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.told_caution_reader import open_caution_reader
from memory_node.planner.language.told_cautions import Cautious
from memory_node.planner.language.told_facts import Informed, Told, informed, nothing_told, words_about
from memory_node.planner.language.understanding import Understander
from memory_node.planner.open_planner import open_understander

CHECKS = Path(__file__).parent / "checks"
_CASES = tuple(
    CHECKS / f"told_facts{name}.yaml"
    for name in ("", "_plain", "_family", "_flat", "_care", "_visit", "_inn", "_club", "_studio")
)
_QUESTION = ("question",)
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class HomeReader:
    """Reads instructions as the offline planner does, in a home that has everything."""

    understander: Understander
    kinds: ObjectCatalogue
    is_cautious: Cautious

    def read(self, instruction: str, told: Told) -> tuple[Informed, Sequence[str]]:
        """Return an instruction with what was told, and what its goals bring about, ("question",) for a question."""
        facts = informed(instruction, told(words_about(instruction, self.kinds)), self.kinds, self.is_cautious)
        if facts.question:
            return facts, _QUESTION
        home = HomeClasses(
            frozenset(kind.name for kind in self.kinds if kind.pickupable),
            frozenset(kind.name for kind in self.kinds if not kind.pickupable),
        )
        read = self.understander.understand(facts.text, home)
        return facts, effects(read.goals) if read.question is None and not read.refused else _QUESTION


def home_rows(embedder: TextEmbedder, cases: Sequence[Path] = _CASES) -> Iterator[dict[str, Any]]:
    """Yield for each file of cases a row with what was told and one without.

    success_rate: instructions that were read as they are meant, a question where one is due; asked: questions where
    none is due; silent: acts that were not meant, without a word of what was told; failed: all that were read otherwise
    than they are meant.
    """
    kinds = load_catalogue(HOUSEHOLD)
    reader = HomeReader(open_understander(kinds, embedder), kinds, open_caution_reader(embedder))
    for path in cases:
        groups = yaml.safe_load(path.read_text(encoding="utf-8"))
        for knows in (True, False):
            yield {"cases": path.stem, "knowledge": knows, **_measured(groups, knows, embedder, reader)}


def _measured(
    groups: Sequence[Mapping[str, Any]],
    knows: bool,
    embedder: TextEmbedder,
    reader: HomeReader,
) -> dict[str, Any]:
    graph = KnowledgeGraph(embedder, NoLog())
    told = partial(_told, graph) if knows else nothing_told
    right, asked, silent, failed, count = 0, 0, 0, [], 0
    for number, group in enumerate(groups, 1):
        for place, fact in enumerate(group["told"]):
            graph.tell(fact, stamp_ns=(100 * number + place) * _SECOND_NS)
        for case in group["ask"]:
            facts, read = reader.read(case["say"], told)
            count += 1
            right += read == tuple(case["want"])
            asked += read == _QUESTION != tuple(case["want"])
            if read != tuple(case["want"]):
                silent += read != _QUESTION and not facts.used and not facts.unsure
                failed.append(f"{case['say']}: {'; '.join(read)}")
    shares = {"success_rate": right / count, "asked": asked / count, "silent": silent / count}
    return {"instructions": count, **shares, "failed": failed}


def _told(graph: KnowledgeGraph, instruction: str) -> Sequence[str]:
    return [one.text for one in graph.told_facts(instruction)]
