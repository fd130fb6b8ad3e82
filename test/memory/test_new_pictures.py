from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneObject
from memory_node.intake.short_term_mirror import NewPictures
from memory_node.llm.chat import Deadline
from memory_node.memory import RobotMemory
from memory_node.short_term.state_estimation import StateEstimationQueue, StateRequest
from memory_node.short_term.units import StateClaim

SECOND_NS = 1_000_000_000


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
