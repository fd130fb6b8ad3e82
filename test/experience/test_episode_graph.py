from collections.abc import Callable

from memory_node.domain.skill import FailureReason
from memory_node.domain.step import StepRecord
from memory_node.experience.episode_graph import EpisodeGraph, StateKey

StepMaker = Callable[..., StepRecord]


def test_summary_does_not_depend_on_the_order_of_facts() -> None:
    assert StateKey.of("kitchen", ("Mug", "Apple"), "") == StateKey.of("kitchen", ("Apple", "Mug", "Apple"), "")
    assert StateKey.of("kitchen", ("Mug",), "") != StateKey.of("kitchen", ("Mug",), "Apple")


def test_equal_transitions_of_two_episodes_add_up(step: StepMaker) -> None:
    graph = EpisodeGraph()
    for episode in ("e1", "e2"):
        graph.add(episode, [step("PickupObject", f"Apple@{episode[1]},0,1", held="Apple", episode=episode)])
    (transition,) = graph.transitions()
    assert (transition.successes, transition.episodes) == (2, ["e1", "e2"])


def test_failed_transitions_are_recalled_with_their_reason(step: StepMaker) -> None:
    graph = EpisodeGraph()
    graph.add("e1", [step("GoToObject", "Fridge"), step("PickupObject", "Egg", fails="closed")])
    (failed,) = graph.failed_transitions(["e1"])
    assert failed.action == "PickupObject(Egg)"
    assert failed.reasons == {FailureReason.CLOSED: 1}
    assert graph.failed_transitions(["other"]) == []


def test_room_patterns_and_action_hints_count_successes(step: StepMaker) -> None:
    graph = EpisodeGraph()
    graph.add(
        "e1",
        [
            step("OpenObject", "Fridge"),
            step("OpenObject", "Fridge", fails="already_open"),
            step("CloseObject", "Fridge", room="hall"),
        ],
    )
    assert graph.room_patterns("kitchen") == [("OpenObject(Fridge)", 1, 2)]
    assert graph.action_hints("Fridge") == [("CloseObject", 1, 1), ("OpenObject", 1, 2)]


def test_forgetting_an_episode_removes_what_only_it_supported(step: StepMaker) -> None:
    graph = EpisodeGraph()
    graph.add("e1", [step("GoToObject", "Fridge"), step("OpenObject", "Fridge")])
    graph.add("e2", [step("GoToObject", "Fridge", episode="e2")])
    graph.forget("e1")
    assert [(t.action, t.episodes) for t in graph.transitions()] == [("GoToObject(Fridge)", ["e2"])]
    assert graph.trajectory("e1") == []
