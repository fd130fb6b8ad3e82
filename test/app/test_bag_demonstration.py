"""What a bag demonstrates is learnt as from the running robot: an episode, and a way for other things of its kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from heated_potato import HEATED
from table_recording import write_bag, write_messages

from memory_node.domain.skill import SkillResult
from memory_node.memory_config import MemoryConfig
from memory_node.nodes.run import activate_ros
from memory_node.opening import open_memory


class Recorder:
    """The node of the skills, whose messages are recorded."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def create_publisher(self, *_: Any) -> Any:
        return self

    def publish(self, message: Any) -> None:
        self.messages.append(message)

    def create_subscription(self, *arguments: Any) -> None:
        self.tell = arguments[2]

    def create_timer(self, *_: Any) -> None:
        pass


def shown(instruction: str) -> list[tuple[str, Any, int]]:
    """Return what a demonstration publishes, as a bag holds it that ends before what is shown is said to."""
    activate_ros()
    from std_msgs.msg import String

    from memory_node.nodes.demonstrations import DEMONSTRATED, Demonstrations

    node: Any = Recorder()
    clock = iter(range(1_500_000_000, 10**18, 100_000_000))
    demonstrations = Demonstrations(node, lambda: next(clock), 60.0, is_performing=lambda: False)
    node.tell(String(data=instruction))
    for call in HEATED:
        demonstrations.note(SkillResult(call, True))
    stamps = [one.step.header.stamp for one in node.messages]
    return [("/" + DEMONSTRATED, one, at.sec * 10**9 + at.nanosec) for one, at in zip(node.messages, stamps)]


def unusable_images() -> list[tuple[str, Any, int]]:
    from memory_node.nodes import conversions

    color, depth = np.zeros((4, 4, 3), np.uint8), np.ones((4, 4), np.float32)
    images = conversions.image_to_msg(color, "rgb8", 1, "camera"), conversions.image_to_msg(depth, "32FC1", 1, "camera")
    return [("/cam/color", images[0], 1), ("/cam/depth", images[1], 1)]


@pytest.mark.parametrize(
    ("storage", "sees"), [("SQLITE3", "images"), ("MCAP", "images of no known camera"), ("MCAP", "nothing")]
)
def test_bag_teaches_a_way_once(storage: str, sees: str, tmp_path: Path, ingested: Callable[..., Any]) -> None:
    steps = shown("heat the potato")
    if sees == "images":
        write_bag(tmp_path / "bag", storage, steps)
    else:
        write_messages(tmp_path / "bag", storage, [*steps, *(unusable_images() if sees != "nothing" else ())])
    database = str(tmp_path / "memory.db")
    for _ in range(2):
        ingested(tmp_path / "bag", "--database", database)
    memory = open_memory(MemoryConfig(database=database))
    assert memory.experience.wait_settled(timeout_s=30.0)
    (episode,) = memory.past.episodes(10)
    assert (episode.instruction, episode.success) == ("heat the potato", True)
    assert [step.action for step in memory.past.episode(episode.id).steps] == list(HEATED)
    (way,) = memory.experience.ways_to("heat the egg")
    assert way.steps[-1] == "ToggleOn(Microwave)"
    memory.close()
