"""How well recall understands requests that do not name the thing, and whether it abstains when nothing fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from benchmarks.rows import open_text
from memory_node.domain.answer import FindQuery
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.search.ranker import Ranker
from memory_node.search.unit_index import UnitIndex

_HALVES = ("development", "held_out")
_NOW_NS = 1_000_000_000
_K = 8


def request_rows(path: str, precision: str) -> Iterator[dict[str, Any]]:
    """Yield one row for each half of a file of requests.

    The file (YAML) holds `home`: the classes remembered, one thing of each; by half a list of {text, fits, also?}:
    classes that answer the request, and such as count neither way; and as `nothing_<half>` texts that nothing fits.
    taken_away: the requests again, with all that fits or might fit gone from memory, so that each must be refused.
    """
    with open_text(path) as lines:
        document = yaml.safe_load(lines)
    recall = UnitIndex(Ranker(MiniLmEmbedder(precision)))
    for half in _HALVES:
        yield {"half": half, **understanding(recall, document, half)}


def understanding(recall: UnitIndex, document: Mapping[str, Any], half: str) -> dict[str, float]:
    """Return the figures of one half; recall is emptied for it."""
    home, cases = document["home"], document[half]
    _fill(recall, home)
    answers = [_counting(recall, case) for case in cases]
    refused = [not _classes(recall, text) for text in document[f"nothing_{half}"]]
    taken_away = []
    for case in cases:
        gone = {*case["fits"], *case.get("also", ())}
        _fill(recall, [name for name in home if name not in gone])
        taken_away.append(not _classes(recall, case["text"]))
    pairs = list(zip(answers, cases))
    return {
        "requests": len(cases),
        "accuracy_at_1": float(np.mean([bool({*found[:1]} & {*case["fits"]}) for found, case in pairs])),
        "accuracy_at_3": float(np.mean([bool({*found[:3]} & {*case["fits"]}) for found, case in pairs])),
        "answered": float(np.mean([len(found) > 0 for found in answers])),
        "nothing": len(refused),
        "nothing_refused": float(np.mean(refused)),
        "taken_away_refused": float(np.mean(taken_away)),
    }


def _fill(recall: UnitIndex, classes: Sequence[str]) -> None:
    recall.clear()
    recall.put_all([MemoryUnit(name, name, np.zeros(3), np.eye(3) * 0.01, _NOW_NS) for name in classes])


def _classes(recall: UnitIndex, text: str) -> list[str]:
    return [answer.object_class for answer in recall.rank(FindQuery(text, k=_K), _NOW_NS).answers]


def _counting(recall: UnitIndex, case: Mapping[str, Any]) -> list[str]:
    return [name for name in _classes(recall, case["text"]) if name not in case.get("also", ())]
