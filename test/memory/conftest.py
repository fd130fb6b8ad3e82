"""A memory with a word-counting embedder, so that nothing here needs a model."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from plain_search import HashedWords

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory

SECOND_NS = 1_000_000_000


@pytest.fixture
def embedder() -> HashedWords:
    return HashedWords()


@pytest.fixture
def open_at(tmp_path: Path) -> Iterator[Callable[..., RobotMemory]]:
    """Return a function that opens (again) the memory of one database."""
    opened: list[RobotMemory] = []

    def open_again(database: str = "memory.db", robot_id: str = "r1") -> RobotMemory:
        config = MemoryConfig(database=str(tmp_path / database), site="home", robot_id=robot_id)
        opened.append(open_memory(config, clock=lambda: 100 * SECOND_NS, embedder=HashedWords()))
        return opened[-1]

    yield open_again
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_at: Callable[[], RobotMemory]) -> RobotMemory:
    return open_at()


@pytest.fixture
def see() -> Callable[..., Frame]:
    """Return a maker of frames without depth: see(stamp_s, Mug=(1, 0, 0.8), ...)."""

    def make(stamp_s: float, **things: tuple[float, float, float]) -> Frame:
        size = np.array([0.1, 0.1, 0.1])
        observations = tuple(
            ObjectObservation({name: 0.9}, OrientedBox(np.array(at), size), np.eye(3) * 1e-4)
            for name, at in things.items()
        )
        return Frame(int(stamp_s * SECOND_NS), Pose.planar(0.0, 0.0, 0.0, 1.3), None, observations)

    return make


class PictureJudge:
    """What a model that sees answers: it calls dirty what is brown in the middle of a picture, and clean the rest."""

    url = ""

    def __init__(self) -> None:
        self.judged: list[str] = []
        self.sizes: list[list[tuple[int, int]]] = []  # (height, width) of the pictures of each request

    def answer(self, request: dict[str, Any]) -> str:
        words, *parts = request["messages"][-1]["content"]
        shown = [self.image_of(base64.b64decode(one["image_url"]["url"].partition(",")[2])) for one in parts]
        self.sizes.append([image.shape[:2] for image in shown])
        states = [self.state_of(image) for image in (shown[1:] if "all that" in words["text"] else shown)]
        self.judged += states
        things = enumerate(states, 1)
        said = [{"thing": number, "states": [{"state": one, "probability": 0.9}]} for number, one in things]
        return json.dumps({"things": said})

    @staticmethod
    def image_of(jpeg: bytes) -> NDArray[np.uint8]:
        return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)

    @staticmethod
    def state_of(image: NDArray[np.uint8]) -> str:
        blue, _, red = image[image.shape[0] // 2, image.shape[1] // 2].tolist()
        return "dirty" if red > blue + 40 else "cleaned"


@pytest.fixture
def picture_judge(endpoint: Callable[..., Any]) -> PictureJudge:
    """A judge that is asked at its url."""
    judge = PictureJudge()
    judge.url = endpoint(judge.answer).url
    return judge
