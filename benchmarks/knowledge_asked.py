"""`bench knowledge --asked`: what RobotMemory.ask answers about told facts, documents, deeds and the scene."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import yaml

from benchmarks.knowledge_cases import load_dataset
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import StateChange
from memory_node.domain.step import Deed
from memory_node.knowledge.standard_step import document_steps
from memory_node.knowledge.text import plain_words
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory

CHECKS = Path(__file__).parent / "checks"
ASKED = CHECKS / "asked.yaml"
_SETS = tuple(CHECKS / f"{name}.json" for name in ("multihop_town", "multihop_almanac", "talks_friends"))
_STEPS = 10
_BETWEEN_M = 2.0


def asked_rows(embedder: TextEmbedder) -> Iterator[dict[str, Any]]:
    """Yield a row for the questions of a home, and one for each set of passages.

    right: the share that is answered as it should be; false_answers: of what nothing answers, the share that is
    answered; unrelated: answers with a fact that is of no concern. Of a set, held: questions whose answer stands in
    what ten found steps say; answered_of_held: of these the share whose answer stands in the answer, too.
    """
    yield home_row(embedder)
    for path in _SETS:
        yield set_row(embedder, path)


def home_row(embedder: TextEmbedder, path: Path = ASKED) -> dict[str, Any]:
    """Return the row of a home's questions, with each answer."""
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    memory = _home(case, embedder)
    answers, wrong, unrelated, false = {}, [], [], 0
    for one in case["questions"]:
        answer = memory.ask(one["ask"])
        said = "" if answer.abstains else answer.text
        answers[one["ask"]] = said or None
        unrelated += [one["ask"]] if any(_says(said, word) for word in one.get("silent", ())) else []
        is_right = _is_right(said, one["want"])
        false += not one["want"] and not is_right
        if not is_right:
            wrong.append(one["ask"])
    memory.close()
    questions = case["questions"]
    return {
        "set": path.stem,
        "questions": len(questions),
        "right": 1.0 - len(wrong) / len(questions),
        "false_answers": false / max(1, sum(not one["want"] for one in questions)),
        "unrelated": len(unrelated),
        "unrelated_to": unrelated,
        "wrong": wrong,
        "answers": answers,
    }


def set_row(embedder: TextEmbedder, path: Path) -> dict[str, Any]:
    """Return the row of a set of passages or talks."""
    held = answered = count = 0
    missed = []
    for collection in load_dataset(path).collections:
        memory = open_memory(MemoryConfig(), embedder=embedder, embed_in_background=False)
        memory.read(collection.steps)
        memory.knowledge.embed_statements()
        for question in collection.questions:
            count += 1
            found = " ".join(one.text for one in memory.knowledge.find(question.text, _STEPS))
            if not any(_holds(found, answer) for answer in question.answers):
                continue
            held += 1
            answer = memory.ask(question.text)
            if not answer.abstains and any(_holds(answer.text, one) for one in question.answers):
                answered += 1
            else:
                missed.append(question.text)
        memory.close()
    return {"set": path.stem, "questions": count, "held": held, "answered_of_held": answered / held, "missed": missed}


def _home(case: Mapping[str, Any], embedder: TextEmbedder) -> RobotMemory:
    now_ns = _stamp(case["time"])
    memory = open_memory(MemoryConfig(time_zone="UTC"), lambda: now_ns, embedder, embed_in_background=False)
    ids: dict[str, str] = {}
    for number, (name, place) in enumerate(case["things"].items()):
        at = (_BETWEEN_M * number, 0.0, 0.8)
        (ids[place],) = memory.remember((StateChange("", place, now_ns, position=at, source="camera"),))
        inside = place in ("Fridge",)
        put = StateChange("", name, now_ns, support_id=ids[place], inside=inside, position=at, source="camera")
        (ids[name],) = memory.remember((put,))
    for number, deed in enumerate(case["did"]):
        thing, to = deed["thing"], deed["to"]
        memory.deeds.add(
            Deed(f"morning-{number}:0", deed["skill"], ids.get(thing, ""), thing, _stamp(deed["at"]), to_class=to)
        )
    for one in case["told"]:
        memory.tell_fact(one["text"], stamp_ns=_stamp(one["at"]))
    document = case["document"]
    memory.read(document_steps("house-rules", document["title"], [document["text"]], _stamp(case["told"][0]["at"])))
    return memory


def _is_right(said: str, want: Sequence[Sequence[str]]) -> bool:
    if not want:
        return not said or re.match(r"(?:no\b|nobody|nothing|I (?:do not|was not|know of no))", said, re.I) is not None
    return all(any(_says(said, word) for word in words) for words in want)


def _says(text: str, word: str) -> bool:
    ending = r"\w*" if word.endswith("*") else ""
    return re.search(rf"(?<!\w){re.escape(word.rstrip('*'))}{ending}(?!\w)", text, re.I) is not None


def _holds(text: str, answer: str) -> bool:
    return f" {' '.join(plain_words(answer))} " in f" {' '.join(plain_words(text))} "


def _stamp(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()) * 10**9
