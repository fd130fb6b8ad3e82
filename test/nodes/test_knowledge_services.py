"""What the memory node is told and asked about what is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from robot_memory import srv
from ros_peer import RosPeer
from running_memory import running_memory

from memory_node.knowledge.facts import Proposition
from memory_node.nodes import conversions


@pytest.fixture
def node(peer: RosPeer, tmp_path: Path) -> Iterator[Any]:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db")) as node:
        yield node


def test_proposition_survives_its_message() -> None:
    concepts, sources = frozenset({"mug", "anna"}), ("told:0",)
    told = Proposition("The mug is Anna's.", concepts, sources, 7 * 10**9, 2, made_by="rules", active=False)
    assert conversions.proposition_from_msg(conversions.proposition_to_msg(told)) == told


def test_fact_is_told_asked_and_contradicted(peer: RosPeer, node: Any) -> None:
    told = peer.call(srv.TellFact, "memory/tell_fact", text="The mug is Anna's; she is allergic to nuts.", teller="Ben")
    assert told.success, told.message
    assert [one.text for one in told.propositions] == ["The mug is Anna's", "Anna is allergic to nuts."]
    told = peer.call(srv.TellFact, "memory/tell_fact", text="The mug is Carl's.")
    assert told.message == "I shall remember: The mug is Carl's. Instead of: The mug is Anna's"
    answer = peer.call(srv.AskMemory, "memory/ask_memory", question="Whose is the mug?")
    assert answer.success
    assert not answer.abstains
    assert answer.mode == "semantic"
    assert answer.propositions[0].text == "The mug is Carl's."
    assert answer.propositions[0].sources
    facts = peer.call(srv.AskMemory, "memory/ask_memory", question="bring Anna the mug", told_only=True)
    assert [one.text for one in facts.propositions] == ["The mug is Carl's.", "Anna is allergic to nuts."]
    assert facts.answer == ""


def test_what_a_document_says_is_deleted_and_comes_back(peer: RosPeer, node: Any) -> None:
    told = peer.call(srv.TellFact, "memory/tell_fact", text="The mug is Anna's.").propositions[0]
    session = told.sources[0].rpartition(":")[0]
    for back in (False, True):
        changes = {"text": session, "retract": True, "document": True, "back": back}
        changed = peer.call(srv.TellFact, "memory/tell_fact", **changes)
        assert changed.success, changed.message
        answer = peer.call(srv.AskMemory, "memory/ask_memory", question="Whose is the mug?")
        assert answer.abstains is not back
    assert not peer.call(srv.TellFact, "memory/tell_fact", **changes).success


def test_what_is_unknown_or_wrong_is_said(peer: RosPeer, node: Any) -> None:
    answer = peer.call(srv.AskMemory, "memory/ask_memory", question="When does the ferry leave?")
    assert (answer.success, answer.abstains, answer.answer) == (True, True, "null")
    refused = peer.call(srv.AskMemory, "memory/ask_memory", question="Whose is it?", mode="magic")
    assert not refused.success
    assert "mode: expected one of episodic" in refused.message
    refused = peer.call(srv.TellFact, "memory/tell_fact", text=" ")
    assert (refused.success, refused.message) == (False, "a fact: expected words, got none")


def test_planner_counts_days_in_the_zone_of_memory(peer: RosPeer, tmp_path: Path) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), time_zone="Pacific/Auckland"):
        recalled = peer.call(srv.RecallPast, "memory/recall_past")
    assert recalled.success
    assert recalled.time_zone == "Pacific/Auckland"
