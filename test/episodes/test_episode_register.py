"""Which episodes run, and which have ended."""

import pytest

from memory_node.domain.errors import NotFoundError
from memory_node.domain.step import EpisodeSummary
from memory_node.episodes.episode_register import ENDED_KEPT, EpisodeRegister


def begun(*episode_ids: str) -> EpisodeRegister:
    register = EpisodeRegister(window=5)
    for stamp_ns, episode_id in enumerate(episode_ids, 1):
        assert register.begin(EpisodeSummary(episode_id, "bring me the mug", "", stamp_ns))
    return register


def test_an_episode_that_has_ended_does_not_begin_again() -> None:
    register = begun("a")
    register.end("a")
    assert not register.begin(EpisodeSummary("a", "bring me the mug", "", 9))
    with pytest.raises(NotFoundError, match="has ended"):
        register.running("a")


def test_only_the_last_ended_episodes_are_remembered() -> None:
    register = begun("first")
    register.end("first")
    for number in range(ENDED_KEPT):
        register.end(str(number))
    assert not register.has_ended("first")
    assert register.has_ended("0")
    with pytest.raises(NotFoundError, match="was never started"):
        register.running("first")


def test_a_task_type_is_added_once() -> None:
    register = begun("a")
    added = register.add_task_type("a", "fetch")
    assert added.task_type == "fetch"
    assert register.add_task_type("a", "clean") is None
    assert register.summaries() == (added,)


def test_the_latest_and_the_silent_ones_are_found() -> None:
    register = begun("a", "b")
    latest = register.latest()
    assert latest.summary.id == "b"
    assert register.silent_since(2) == ["a"]
    register.end("b")
    assert [summary.id for summary in register.summaries()] == ["a"]
