"""Builders of steps and episodes."""

import itertools
from collections.abc import Callable

import pytest

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord

StepMaker = Callable[..., StepRecord]


@pytest.fixture
def step() -> StepMaker:
    """Return a maker of steps: step("PickupObject", "Apple", fails="hand_full", held="Apple"); index counts up."""
    counter = itertools.count()

    def make(
        skill: str,
        *arguments: str,
        fails: str = "none",
        held: str = "",
        episode: str = "e1",
        index: int | None = None,
        room: str = "kitchen",
        visible: tuple[str, ...] = (),
        relations: tuple[str, ...] = (),
    ) -> StepRecord:
        number = next(counter) if index is None else index
        return StepRecord(
            episode_id=episode,
            index=number,
            action=SkillCall(skill, arguments),
            success=fails == "none",
            reason=FailureReason(fails),
            stamp_ns=(number + 1) * 1_000_000_000,
            held_object=held,
            room=room,
            visible=visible,
            relations=relations,
        )

    return make
