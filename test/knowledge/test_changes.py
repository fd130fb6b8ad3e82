"""What deleting, pruning, compressing and merging intents do, and what stays true whatever is done."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from knowledge_doubles import BagOfWords, ListedLog, reborn
from test_operations import FACTS

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_nodes import PROPOSITIONS, STEPS, Criteria
from memory_node.knowledge.standard_step import Turn, document_steps, talk_steps

DAY_NS = 86_400_000_000_000


def texts(graph: KnowledgeGraph) -> set[str]:
    return {one.text for one in graph.propositions(active=False)}


def live(graph: KnowledgeGraph, episode: str, instruction: str, stamp_ns: int = 1) -> None:
    step = StepRecord(episode, 0, SkillCall("PickupObject", (episode,)), True, FailureReason.NONE, stamp_ns)
    graph.learn(EpisodeSummary(episode, instruction, "", 0, stamp_ns, True), [step])


def test_only_what_meets_all_criteria_is_deleted(graph: KnowledgeGraph, log: ListedLog) -> None:
    graph.add(document_steps("old", "Tea", ["Tea is hot."], DAY_NS))
    graph.add(document_steps("new", "Tea", ["Tea is green."], 3 * DAY_NS))
    graph.add(document_steps("other", "Milk", ["Milk is white."], DAY_NS))
    deleted = graph.delete(Criteria(before_ns=2 * DAY_NS, subject="Tea"))
    assert len(deleted) == 1
    assert texts(graph) == {"Tea: Tea is green.", "Milk: Milk is white."}
    assert set(log.documents[PROPOSITIONS]) == texts(graph)
    assert graph.bring_back(deleted) == 1
    assert "Tea: Tea is hot." in texts(graph)
    assert "Tea: Tea is hot." in log.documents[PROPOSITIONS]


def test_session_deletes_what_no_other_session_says(graph: KnowledgeGraph) -> None:
    graph.add(document_steps("a", "", ["Tea is hot. Cups are round."]))
    graph.add(document_steps("b", "", ["Tea is hot."]))
    assert len(graph.delete(Criteria(session="a"))) == 1
    assert texts(graph) == {"Tea is hot."}


def test_document_that_is_deleted_comes_back_beside_what_was_learned_since(graph: KnowledgeGraph) -> None:
    source = "rules.txt-0123456789ab"
    for session in (f"{source}-0", f"{source}-1"):
        graph.add(document_steps(session, "", [f"The vase of {session[-1]} stays."]))
    graph.tell("Cups are round.")
    before = texts(graph), set(graph.steps())
    graph.delete_document("rules.txt")
    assert texts(graph) == {"Cups are round."}
    graph.add(document_steps(f"{source}-1", "", ["The vase of 1 stays."]))
    graph.delete_document("rules.txt", back=True)
    assert (texts(graph), set(graph.steps())) == before
    for back in (False, True):
        with pytest.raises(NotFoundError):
            graph.delete_document("rules", back)
    graph.delete_document("rules.txt")
    graph.forget("another")
    with pytest.raises(NotFoundError):  # a Forget makes final
        graph.delete_document("rules.txt", back=True)


def test_criteria_of_nothing_are_refused() -> None:
    with pytest.raises(InvalidValueError):
        Criteria()


def test_least_borne_out_goes_first_and_what_people_told_stays(graph: KnowledgeGraph) -> None:
    graph.tell("The blue mug is Anna's.", stamp_ns=1)
    for session in ("a", "b"):
        graph.add(document_steps(session, "", ["Tea is hot."], 5))
    graph.add(document_steps("c", "", ["Cups are round."], 9))
    assert len(graph.prune(kept=1)) == 1
    assert texts(graph) == {"The blue mug is Anna's.", "Tea is hot."}
    graph.prune(kept=0)
    assert texts(graph) == {"The blue mug is Anna's."}


def test_compressed_steps_keep_their_sources_and_what_was_learned_from_them(graph: KnowledgeGraph) -> None:
    story = "We went to the lake with a tent, and then, after a long way through the wood, it began to rain on us."
    graph.add(talk_steps("t", [Turn("Ann", story), Turn("Ben", "I see.")], DAY_NS))
    graph.add(talk_steps("u", [Turn("Ann", story)], 5 * DAY_NS))
    before = texts(graph)
    assert graph.compress(2 * DAY_NS) == 2
    assert graph.compress(2 * DAY_NS) == 0
    steps = graph.steps()
    assert set(steps) == {"t:0", "t:1", "u:0"}
    assert steps["t:0"].action.endswith("...")
    assert len(steps["t:0"].action) < len(story)
    assert steps["u:0"].action == story
    assert texts(graph) == before
    assert graph.ask("Did it rain on Ann at the lake?").steps


def check_invariants(graph: KnowledgeGraph, log: ListedLog, episodes: set[str]) -> None:
    steps = graph.steps()
    texts = {one.text: one for one in graph.propositions(active=False)}
    for one in texts.values():
        assert one.sources
        for source in one.sources:
            assert source in steps or source.rpartition(":")[0] in episodes, f"{one.text}: {source} dangles"
        assert one.active or one.replaced_by
        kinds = {kind for kind, _ in log.sources[PROPOSITIONS, one.key]}
        assert kinds <= {STEPS, "episode"}
    for question in FACTS:
        for hit in graph.search(question, 10):
            assert texts[hit.statement.text].active
    assert set(log.documents[PROPOSITIONS]) == {one.key for one in texts.values()}
    assert set(log.documents[STEPS]) == set(steps)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["tell", "add", "learn", "update", "forget", "delete", "prune", "compress"]),
        st.integers(0, len(FACTS) - 1),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None)
@given(OPERATIONS)
def test_any_operations_keep_the_invariants(operations: list[tuple[str, int]]) -> None:
    log, episodes = ListedLog(), set()
    graph = KnowledgeGraph(BagOfWords(), log)
    for turn, (operation, number) in enumerate(operations, 1):
        before, sources = graph.hash(), set(graph.steps())
        if operation == "tell":
            graph.tell(FACTS[number], stamp_ns=turn)
        elif operation == "add":
            graph.add(document_steps(f"doc{number % 3}", "", [FACTS[number]], turn))
        elif operation == "learn":
            episodes.add(f"e{turn}")
            live(graph, f"e{turn}", f"pick the {'red' if number % 2 else 'blue'} mug from the table", turn)
        elif operation == "forget":
            gone = f"doc{number % 3}"
            graph.forget(gone)
            assert not any(gone in source for one in graph.propositions(active=False) for source in one.sources)
        elif operation in ("delete", "prune"):
            prunes = operation == "prune"
            deleted = graph.prune(number) if prunes else graph.delete(Criteria(before_ns=number + 1))
            if turn % 3:
                assert graph.bring_back(deleted) == len(deleted)
                assert graph.hash() == before
        elif operation == "compress":
            graph.compress(number)
        else:
            graph.update()
        if operation in ("delete", "prune", "compress", "update"):
            kept = set(graph.steps())
            # Only what is deleted leaves no text behind.
            assert kept <= sources if operation == "delete" else kept == sources
        check_invariants(graph, log, episodes)
    assert reborn(log).hash() == graph.hash()


def test_document_without_a_title_is_not_what_a_person_told(graph: KnowledgeGraph) -> None:
    graph.add(document_steps("notes", "", ["The blue mug is Anna's."]))
    assert graph.told_facts("bring Anna the blue mug") == ()
    graph.tell("The blue mug is Anna's.")
    assert [one.text for one in graph.told_facts("bring Anna the blue mug")] == ["The blue mug is Anna's."]
