"""Tasks whose outcome is known beforehand: the even ones are done anyway, the others where a way is told."""

from collections.abc import Sequence

import numpy as np

from memory_node.catalogue.label_space import load_catalogue
from memory_node.lessons.optimizer.attempt import Attempt, Deed, DeedKind
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.lessons.whereabouts import read_whereabouts
from training.optimizer.executions import Execution, Rollout

VETTING = Vetting(load_catalogue())
TASKS = tuple(
    f"cool some mug and put it in {place}." for place in ("bed", "desk", "sofa", "box", "safe", "shelf", "cart", "bin")
)


class WordEmbedder:
    dimension = 64

    def embed(self, texts: Sequence[str]):
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts):
            for word in text.split():
                row[sum(map(ord, word)) % self.dimension] += 1.0
            row /= np.linalg.norm(row)
        return rows


def attempt(place: int, success: bool) -> Attempt:
    thing = "mug"
    goal = TASKS[place].split()[-1].strip(".")
    deeds = (
        Deed(DeedKind.TRAVEL, "go to", "go to shelf", place="shelf", seen=(thing,)),
        Deed(DeedKind.TAKE, "take", f"take {thing} from shelf", thing, "shelf"),
        Deed(DeedKind.CHANGE, "cool", f"cool {thing} with fridge", thing, "fridge"),
        Deed(DeedKind.PUT, "move", f"move {thing} to {goal}", thing, goal),
    )
    return Attempt(f"q{place}", TASKS[place], deeds if success else deeds[:2], success, place)


def world(executions: Sequence[Execution]) -> list[Rollout]:
    """Tasks of even places are done anyway, others where it is told where to look; then they take half the steps."""
    rollouts = []
    for one in executions:
        told = any(read_whereabouts(entry.text) is not None for entry in one.shown)
        done = told or one.query % 2 == 0
        rollouts.append(Rollout(done, 5 if told else 10, attempt(one.query, done)))
    return rollouts
