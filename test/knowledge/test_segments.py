"""Where an episode is cut, and what its parts prescribe."""

import pytest
from knowledge_doubles import BagOfWords, ListedLog

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.segments import prescriptions_of, return_of, segments_of
from memory_node.knowledge.standardise import episode_steps, subgoal_of


def step(index: int, skill: str, *arguments: str, reason: FailureReason = FailureReason.NONE) -> StepRecord:
    worked = reason is FailureReason.NONE
    return StepRecord("e1", index, SkillCall(skill, arguments), worked, reason, index + 1, room="kitchen")


def washing(last: FailureReason = FailureReason.NONE) -> list[StepRecord]:
    return [
        step(0, "PickupObject", "Apple@1,2,0.9", reason=FailureReason.TOO_FAR),
        step(1, "PickupObject", "Apple@1,2,0.9"),
        step(2, "ToggleOn", "Faucet", reason=last),
    ]


def test_subgoal_is_what_the_skill_is_declared_to_bring_about() -> None:
    assert "Faucet" in subgoal_of(SkillCall("ToggleOn", ("Faucet",)))
    assert subgoal_of(SkillCall("NoSuchSkill", ())) == ""


def test_steps_say_what_came_of_the_one_before() -> None:
    first, second, _ = episode_steps(EpisodeSummary("e1", "wash the apple", "", 0, 3, True), washing())
    assert first.reward == "failed: too far"
    assert "failed: too far" in second.state
    assert second.action == "PickupObject(Apple)"


def test_episode_is_cut_where_the_subgoal_changes() -> None:
    steps = episode_steps(EpisodeSummary("e1", "wash the apple", "", 0, 3, True), washing())
    assert segments_of(steps, BagOfWords().embed) == [range(0, 2), range(2, 3)]
    assert segments_of([], BagOfWords().embed) == []


def test_parts_prescribe_with_a_return_and_name_no_place() -> None:
    episode = EpisodeSummary("e1", "wash the apple", "", 0, 3, False)
    picked, opened = prescriptions_of(episode, washing(FailureReason.OCCUPIED), BagOfWords().embed)
    assert 8.0 <= picked.returned < 10.0
    assert opened.returned == 1.0
    assert "occupied" in opened.advice
    assert "@" not in picked.advice
    assert "kitchen" not in picked.advice


@pytest.mark.parametrize(
    ("done", "tried", "achieved", "least", "most"),
    [(3, 3, True, 10, 10), (2, 3, True, 8, 9), (2, 3, False, 4, 6), (1, 5, False, 2, 3), (0, 4, False, 1, 1)],
)
def test_return_follows_how_far_it_led(done: int, tried: int, achieved: bool, least: float, most: float) -> None:
    assert least <= return_of(done, tried, achieved) <= most


def test_way_that_failed_is_told_when_asked_and_not_recommended() -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    graph.learn(EpisodeSummary("e1", "wash the apple", "", 0, 3, False), washing(FailureReason.OCCUPIED))
    intent = "get to: Faucet toggled on"
    assert all(way.returned >= 8.0 for way in graph.ways_to(intent))
    assert any(way.returned == 1.0 for way in graph.ways_to(intent, least_return=1.0))
