from collections.abc import Callable
from dataclasses import replace

from memory_node.domain.skill import FailureReason
from memory_node.domain.step import FirstScene, StepRecord
from memory_node.episodes.episode_graph import EpisodeGraph, StateKey

StepMaker = Callable[..., StepRecord]


def test_summary_does_not_depend_on_the_order_of_facts() -> None:
    assert StateKey.of("kitchen", ("Mug", "Apple"), "") == StateKey.of("kitchen", ("Apple", "Mug", "Apple"), "")
    assert StateKey.of("kitchen", ("Mug",), "") != StateKey.of("kitchen", ("Mug",), "Apple")


def test_equal_transitions_of_two_episodes_add_up(step: StepMaker) -> None:
    graph = EpisodeGraph()
    for episode in ("e1", "e2"):
        graph.add(episode, [step("PickupObject", f"Apple@{episode[1]},0,1", held="Apple", episode=episode)])
    assert len(graph) == 1
    assert graph.action_hints("Apple") == [("PickupObject", 2, 2)]


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


def test_forgetting_an_episode_takes_back_exactly_its_counts(step: StepMaker) -> None:
    def first() -> list[StepRecord]:
        return [
            step("GoToObject", "Fridge", relations=("Egg in Fridge",)),
            step("OpenObject", "Fridge", fails="too_far"),
            step("OpenObject", "Fridge"),
            step("PickupObject", "Egg", held="Egg"),
        ]

    def second() -> list[StepRecord]:
        return [
            step("GoToObject", "Fridge", episode="e2", relations=("Egg in Fridge",)),
            step("OpenObject", "Fridge", episode="e2", fails="too_far"),
        ]

    both, alone = EpisodeGraph(), EpisodeGraph()
    both.add("e1", first())
    both.add("e2", second())
    both.forget("e1")
    alone.add("e2", second())
    assert len(both) == len(alone)
    assert both.failed_transitions(["e2"]) == alone.failed_transitions(["e2"]) != []
    assert both.room_patterns("kitchen") == alone.room_patterns("kitchen") != []
    assert both.action_hints("Egg") == []
    assert both.learnt_relations("kitchen") == [("Egg in Fridge", 1)]
    assert both.step_count == alone.step_count


def test_adding_an_episode_again_replaces_it(step: StepMaker) -> None:
    graph = EpisodeGraph()
    for _ in range(2):
        graph.add("e1", [step("GoToObject", "Fridge")])
    assert (len(graph), graph.step_count) == (1, 1)
    assert graph.action_hints("Fridge") == [("GoToObject", 1, 1)]


def test_a_view_of_nothing_teaches_no_relation(step: StepMaker) -> None:
    graph = EpisodeGraph()
    graph.add("e1", [step("GoToObject", "Fridge"), step("GoToObject", "Table", relations=("Apple on Table",))])
    assert graph.learnt_relations("kitchen") == [("Apple on Table", 1)]


def test_steps_one_by_one_come_to_the_same_as_all_at_once(step: StepMaker) -> None:
    steps = [
        step("GoToObject", "Fridge", relations=("Egg in Fridge",)),
        step("OpenObject", "Fridge", fails="too_far"),
        step("OpenObject", "Fridge", fails="too_far"),
        step("OpenObject", "Fridge"),
    ]
    whole, followed = EpisodeGraph(), EpisodeGraph()
    whole.add("e1", steps)
    followed.add("e1", steps[:1])
    for one in steps[1:]:
        followed.append("e1", one)
    assert followed.failed_transitions(["e1"]) == whole.failed_transitions(["e1"])
    assert (followed.step_count, len(followed)) == (whole.step_count, len(whole))
    followed.forget("e1")
    assert (followed.step_count, len(followed)) == (0, 0)


def test_episodes_that_began_otherwise_have_edges_of_their_own(step: StepMaker) -> None:
    def begun(*seen: str, asked: str = "Egg") -> StateKey:
        return StateKey.of_start(FirstScene("hall", seen), "heat+place", [asked])

    graph = EpisodeGraph()
    for episode, first in (("e1", begun("Mug", "Egg")), ("e2", begun("Egg", "Mug")), ("e3", begun("Egg"))):
        graph.add(episode, [step("OpenObject", "Fridge", fails="execution", episode=episode)], first)
    assert [(one.failures, one.source.room) for one in graph.failed_transitions(["e1", "e3"])] == [
        (2, "hall"),
        (1, "hall"),
    ]
    assert begun("Egg").likeness(begun("Egg")) == 1.0
    assert begun("Egg").likeness(begun("Mug", "Egg")) > begun("Egg").likeness(begun("Mug"))
    assert begun("Egg").likeness(begun("Egg", asked="Mug")) < 1.0


def test_room_of_the_first_step_stands_for_one_that_nobody_noted(step: StepMaker) -> None:
    graph = EpisodeGraph()
    graph.add("e1", [step("OpenObject", "Fridge", fails="execution")], StateKey.of_start(FirstScene(), "", ()))
    assert graph.room_patterns("kitchen") == [("OpenObject(Fridge)", 0, 1)]


def test_edge_keeps_its_newest_reasons(step: StepMaker) -> None:
    graph = EpisodeGraph()
    for number, words in enumerate(("a", "b", "c", "d", "c")):
        episode = f"e{number}"
        graph.add(episode, [replace(step("OpenObject", "Safe", fails="execution", episode=episode), reasoning=words)])
    (edge,) = graph.failed_transitions(["e0"])
    assert [words for _, words in edge.reasoning] == ["b", "d", "c"]
    graph.forget("e4")
    assert [words for _, words in edge.reasoning] == ["b", "d"]
