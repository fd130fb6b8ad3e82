"""Of the things that went missing, the one most like what turned up is taken for it, or none."""

import numpy as np
import pytest

from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable
from memory_node.scene_graph.same_instance import best_same_instance

CONFIG = SceneGraphConfig()


def straightforward(table: ObjectTable, name: str, size: np.ndarray, looks: np.ndarray | None) -> float | None:
    """Return how unlike the best candidate is, going through all of them."""
    found = []
    for row in table.rows():
        record = table.record(row)
        ratio = np.log(np.sort(np.maximum(table.size[row], 0.03)) / np.sort(np.maximum(size, 0.03)))
        unlike = 0.0 if looks is None or record.embedding is None else 1.0 - float(looks @ record.embedding)
        if record.best_class == name and record.movable and np.abs(ratio).max() <= np.log(1.6) and unlike <= 0.4:
            found.append(float(np.abs(ratio).max()) + unlike)
    return min(found, default=None)


@pytest.mark.parametrize("seed", range(5))
def test_the_one_most_alike_is_found_among_many(seed: int) -> None:
    random = np.random.default_rng(seed)

    def looks() -> np.ndarray:
        vector = random.uniform(0.0, 1.0, 4)
        return np.asarray(vector / np.linalg.norm(vector))

    table = ObjectTable()
    for number in range(120):
        name = ("mug", "can")[number % 2]
        record = ObjectRecord(f"{number}", {name: 1.0}, name, movable=bool(random.random() < 0.8))
        record.embedding = looks().astype(np.float16) if random.random() < 0.5 else None
        row = table.add(record)
        table.size[row] = random.uniform(0.05, 0.15, 3)
    for _ in range(40):
        size, seen = random.uniform(0.04, 0.2, 3), looks() if random.random() < 0.5 else None
        expected = straightforward(table, "mug", size, seen)
        best = best_same_instance(table, np.arange(120), "mug", size, seen, CONFIG)
        assert (best is None) == (expected is None)
        if best is not None:
            alone = ObjectTable()
            alone.size[alone.add(table.record(best))] = table.size[best]
            assert straightforward(alone, "mug", size, seen) == pytest.approx(expected, abs=1e-3)


def test_what_cannot_move_or_has_no_name_is_not_taken_for_anything() -> None:
    table = ObjectTable()
    for name in ("object", "counter"):
        table.size[table.add(ObjectRecord(name, {name: 1.0}, name))] = 0.1
    config = SceneGraphConfig(fixed_classes=("counter",))
    for name in ("object", "counter"):
        assert best_same_instance(table, np.arange(2), name, np.full(3, 0.1), None, config) is None
