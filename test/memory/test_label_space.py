"""The memory knows of classes what its label space says."""

from pathlib import Path

import numpy as np
import pytest

from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory


class NoEmbedder:
    dimension = 4

    def embed(self, texts):
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


def movable(label_space: str, class_name: str) -> bool:
    memory = open_memory(MemoryConfig(label_space=label_space), lambda: 2, NoEmbedder())
    box = OrientedBox(np.array([1.0, 0.0, 0.5]), np.full(3, 0.4), 0.0)
    seen = ObjectObservation({class_name: 1.0}, box, np.eye(3) * 1e-4)
    memory.observe(Frame(1, Pose(), None, (seen,)))
    (found,) = memory.scene().objects
    assert found.class_name == class_name
    return found.movable


@pytest.mark.parametrize("name", ["Fridge", "refrigerator", "counter_top", "couch", "washing machine"])
def test_fixed_things_are_known_however_a_detector_spells_them(name: str) -> None:
    assert not movable("household", name)


def test_users_label_space_says_what_stays(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\nclasses: {Lathe: {is: [fixed]}}\n")
    assert not movable(str(path), "lathe")
    assert movable("household", "lathe")


def test_label_space_that_does_not_exist_is_told() -> None:
    with pytest.raises(ResourceMissingError, match="household"):
        open_memory(MemoryConfig(label_space="howsehold"), lambda: 2, NoEmbedder())
