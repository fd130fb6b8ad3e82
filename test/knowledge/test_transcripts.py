"""Runs of text games as a source of knowledge."""

from pathlib import Path

import pytest
from knowledge_doubles import BagOfWords, ListedLog, reborn

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_log import PRESCRIPTIONS, STEPS
from memory_node.knowledge.transcripts import Transcript, read_transcripts, transcript_steps

RUN = Transcript(
    "put a clean mug in the shelf.",
    (
        ("go to table 2", "You arrive at table 2. On the table 2, you see a mug 3, a soap bar 1, and a mug 1."),
        ("take mug 3 from table 2", "You pick up the mug 3 from the table 2."),
        ("clean mug 3 with shelf 1", "Nothing happens."),
        ("open drawer 1", "You open the drawer 1. The drawer 1 is open. In it, you see a fork 1."),
        ("clean mug 3 with sinkbasin 1", "You clean the mug 3 using the sinkbasin 1."),
        ("move mug 3 to shelf 1", "You move the mug 3 to the shelf 1."),
    ),
    True,
)


def test_steps_say_what_was_seen_before_and_what_each_was_for() -> None:
    steps = transcript_steps("run", RUN)
    assert [step.subgoal for step in steps] == ["mug held"] * 2 + ["mug clean"] * 3 + ["mug in shelf"]
    assert steps[1].observation == RUN.turns[0][1]
    assert [step.reward for step in steps][2] == "failed: nothing happened"
    assert (steps[3].state, steps[3].source) == (
        "after clean mug 3 with shelf 1, which failed: nothing happened",
        "run:3",
    )


def test_what_lay_where_is_known_by_classes(graph: KnowledgeGraph) -> None:
    graph.watch("run", RUN)
    assert {one.text: one.sources for one in graph.propositions()} == {
        "mug on table": ("run:0",),
        "soap bar on table": ("run:0",),
        "fork in drawer": ("run:3",),
    }
    graph.watch("another", RUN)
    assert graph.about(["mug"])[0].support == 2


def test_ways_are_free_of_the_particular_place_and_tell_what_failed(graph: KnowledgeGraph) -> None:
    graph.watch("run", RUN)
    ways = {way.intent: way for way in graph.prescriptions()}
    assert set(ways) == {RUN.task, "get to: mug held", "get to: mug clean", "get to: mug in shelf"}
    assert not any(letter.isdigit() for way in ways.values() for letter in "".join(way.actions) + way.advice)
    assert (ways[RUN.task].returned, len(ways[RUN.task].actions)) == (10.0, 5)
    cleaned = ways["get to: mug clean"]
    assert 8.0 <= cleaned.returned < 9.0
    assert "Failed: clean mug with shelf." in cleaned.advice


def test_run_that_was_lost_gives_its_parts_alone(graph: KnowledgeGraph) -> None:
    graph.watch("run", Transcript(RUN.task, RUN.turns[:3], won=False))
    returned = {way.intent: way.returned for way in graph.prescriptions()}
    assert returned == {"get to: mug held": 10.0, "get to: mug clean": 1.0}


def test_run_has_its_steps_as_provenance_and_is_forgotten_whole(graph: KnowledgeGraph, log: ListedLog) -> None:
    assert graph.watch("run", RUN) > 0
    assert graph.watch("run", RUN) == 0
    assert {log.sources[PRESCRIPTIONS, way.key] for way in graph.prescriptions()} == {((STEPS, "run:0"),)}
    assert reborn(log).hash() == graph.hash()
    before = KnowledgeGraph(BagOfWords(), ListedLog()).hash()
    graph.forget("run")
    assert graph.hash() == before
    assert not any(log.documents.values())


def test_line_that_is_no_run_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"task": "t", "turns": [["look", "a room"]], "won": false}\n{"task": 3}\n')
    runs = read_transcripts(path)
    assert next(runs) == (0, Transcript("t", (("look", "a room"),), False))
    with pytest.raises(InvalidValueError, match="line 2"):
        next(runs)
