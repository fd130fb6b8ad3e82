"""A model that sees says in what state things are: which pictures it is shown, and what memory makes of its word."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from memory_node.domain.answer import FindQuery
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.observation import Frame
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.intake.short_term_mirror import NewPictures
from memory_node.llm.chat import Deadline
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.short_term.config import ShortTermConfig, StateModelConfig
from memory_node.short_term.state_estimation import StateEstimationQueue, StateRequest
from memory_node.short_term.units import StateClaim

SECOND_NS = 1_000_000_000
BROWN, WHITE = (40, 70, 130), (245, 245, 245)  # blue, green, red
DIRTY = FindQuery(object_class="Plate", states=(ObjectState.DIRTY,))


def picture(color: tuple[int, int, int]) -> bytes:
    return cv2.imencode(".jpg", np.full((32, 32, 3), color, np.uint8))[1].tobytes()


@pytest.fixture
def open_judged(tmp_path: Path, picture_judge: Any, embedder: TextEmbedder) -> Iterator[Callable[[], RobotMemory]]:
    opened: list[RobotMemory] = []

    def make() -> RobotMemory:
        judged = ShortTermConfig(vlm=StateModelConfig(base_url=picture_judge.url, model="sees"))
        config = MemoryConfig(database=str(tmp_path / "memory.db"), site="home", robot_id="r1", short_term=judged)
        opened.append(open_memory(config, clock=lambda: 100 * SECOND_NS, embedder=embedder))
        return opened[-1]

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_judged: Callable[[], RobotMemory]) -> RobotMemory:
    """A memory whose pictures are judged."""
    return open_judged()


@pytest.fixture
def plate(memory: RobotMemory, see: Callable[..., Frame]) -> str:
    """The id of a plate that a picture shows to be dirty."""
    look(memory, see(1, Plate=(1.0, 0.0, 0.8)), picture(BROWN))
    return memory.find(DIRTY).answers[0].object_id


def look(memory: RobotMemory, frame: Frame, *crops: bytes) -> None:
    seen = zip(frame.observations, crops)
    memory.observe(
        replace(frame, observations=tuple(replace(one, crop=partial(bytes, crop), pixels=1000) for one, crop in seen))
    )
    assert memory._intake.mirror._states.wait_idle(10.0)


def names(memory: RobotMemory, query: FindQuery = DIRTY) -> list[float]:
    return sorted(round(float(answer.position[0]), 1) for answer in memory.find(query).answers)


def test_dirty_plates_are_found_by_their_pictures_and_after_a_restart(
    memory: RobotMemory, open_judged: Callable[[], RobotMemory], see: Callable[..., Frame], picture_judge
) -> None:
    for stamp_s, at, color in ((1, 1.0, BROWN), (2, 2.0, WHITE), (3, 3.0, BROWN)):
        look(memory, see(stamp_s, Plate=(at, 0.0, 0.8)), picture(color))
    assert sorted(picture_judge.judged) == ["cleaned", "dirty", "dirty"]
    assert names(memory) == [1.0, 3.0]
    assert names(memory, FindQuery(object_class="Plate", states=(ObjectState.CLEANED,))) == [2.0]
    belief = memory.find(DIRTY).answers[0].states[0]
    assert (belief.state, belief.probability, belief.source) == (ObjectState.DIRTY, 0.9, "vlm")
    assert belief.confirmed_ns in (1 * SECOND_NS, 3 * SECOND_NS)
    memory.commit()
    memory.close()
    again = open_judged()
    assert names(again) == [1.0, 3.0]
    assert again.find(DIRTY).answers[0].states[0].source == "vlm"


def test_what_a_skill_did_later_ends_what_the_picture_said(memory: RobotMemory, plate: str) -> None:
    washed = StateChange(plate, "Plate", 50 * SECOND_NS, added=(ObjectState.CLEANED,), removed=(ObjectState.DIRTY,))
    memory.remember([washed])
    assert names(memory) == []
    assert memory.find(FindQuery(object_class="Plate")).answers[0].states[0].source == "skill"


def test_old_picture_does_not_outweigh_a_fresh_skill(memory: RobotMemory, see: Callable[..., Frame]) -> None:
    look(memory, see(1, Plate=(1.0, 0.0, 0.8)), picture(WHITE))
    plate = memory.find(FindQuery(object_class="Plate")).answers[0].object_id
    memory.remember([StateChange(plate, "Plate", 90 * SECOND_NS, added=(ObjectState.CLEANED,))])
    memory.claim_states(plate, [StateClaim(ObjectState.DIRTY, 0.9, 1 * SECOND_NS)])
    assert names(memory) == []
    assert memory.statistics().state_conflicts == 1


def test_short_term_memory_and_scene_graph_agree(memory: RobotMemory, plate: str) -> None:
    expected = (StateBelief(ObjectState.DIRTY, 0.9, 1 * SECOND_NS, "vlm"),)
    assert memory.cache.get(plate).states == expected
    memory.claim_states(plate, [StateClaim(ObjectState.DIRTY, 0.1, 99 * SECOND_NS)])
    assert memory.cache.get(plate).states == memory.find(FindQuery(object_class="Plate")).answers[0].states == ()


def test_claim_about_what_is_forgotten_is_left(memory: RobotMemory, plate: str) -> None:
    memory.forget(plate)
    memory.claim_states(plate, [StateClaim(ObjectState.DIRTY, 0.9, 2 * SECOND_NS)])
    memory.claim_states("nobody", [StateClaim(ObjectState.DIRTY, 0.9, 2 * SECOND_NS)])
    assert names(memory) == []


def test_the_model_sees_the_whole_image_and_each_thing_at_useful_sizes(
    memory: RobotMemory, see: Callable[..., Frame], picture_judge
) -> None:
    image = np.full((1200, 1600, 3), 245, np.uint8)
    image[100:1000, 100:800] = BROWN[::-1]
    frame = see(1, Plate=(1.0, 0.0, 0.8), Mug=(2.0, 0.0, 0.8))
    places = {"Plate": (150, 749, 150, 949), "Mug": (1000, 1099, 600, 649)}
    observations = tuple(
        replace(one, crop=partial(bytes, one.best_class.encode()), pixels=1000, at_pixels=places[one.best_class])
        for one in frame.observations
    )
    memory.observe(replace(frame, observations=observations, color=image))
    assert memory._intake.mirror._states.wait_idle(10.0)
    (sizes,) = picture_judge.sizes
    assert sizes[0] == (768, 1024)
    # The thing with a margin around it, at most 512 pixels long; a small one keeps its size.
    assert sorted(sizes[1:]) == [(66, 130), (512, 384)]
    assert sorted(picture_judge.judged) == ["cleaned", "dirty"]
    assert names(memory) == [1.0]
    assert memory.find(DIRTY).answers[0].states[0].source == "vlm"


def found(crop: bytes, stamp_s: float, object_id: str = "mug1") -> SceneObject:
    box = OrientedBox(np.zeros(3), np.ones(3))
    stamp_ns = int(stamp_s * SECOND_NS)
    return SceneObject(object_id, {"Mug": 1.0}, box, np.eye(3), 1.0, 0, stamp_ns, crop_jpeg=crop)


def test_picture_is_new_once_and_better_ones_after_a_while() -> None:
    pictures = NewPictures([found(b"old", 1.0, "stored")], interval_s=2.0)
    assert not pictures.take(found(b"", 1.0))
    assert pictures.take(found(b"first", 1.0))
    assert not pictures.take(found(b"first", 9.0)), "the same picture, seen again"
    assert pictures.take(found(b"second", 9.0))
    assert not pictures.take(found(b"third", 10.0)), "too soon"
    assert pictures.take(found(b"third", 11.0))
    pictures.forget("mug1")
    assert pictures.take(found(b"third", 11.0))
    assert not pictures.take(found(b"old", 50.0, "stored")), "it was taken in an earlier life"
    assert pictures.take(found(b"new", 51.0, "stored"))


def test_model_judges_each_new_picture_with_the_task(memory: RobotMemory, see: Callable[..., Frame]) -> None:
    asked: list[StateRequest] = []

    def estimate(request: StateRequest, deadline: Deadline) -> list[tuple[str, tuple[StateClaim, ...]]]:
        asked.append(request)
        return []

    memory._intake.mirror._states = queue = StateEstimationQueue(estimate, lambda object_id, claims: None)
    memory.episodes.start("wash the mug")
    for stamp_s, crop in ((1, b"far"), (2, b"nearer"), (9, b"near"), (20, b"near")):
        frame = see(stamp_s, Mug=(1.0, 0.0, 0.8))
        observations = tuple(
            replace(one, crop=partial(bytes, crop), pixels=100 * stamp_s if crop != b"far" else 1)
            for one in frame.observations
        )
        memory.observe(replace(frame, observations=observations))
        assert queue.wait_idle(10.0)
    assert [request.things[0].crop() for request in asked] == [b"far", b"near"]
    assert asked[0].task == "wash the mug"
    assert asked[0].task_objects == ("Mug",)
    assert queue.counts.answered == 2
