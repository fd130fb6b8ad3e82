"""Guesses what is meant where nobody can be asked: with the trained reader, and with what is alike in the home."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.goal import Goal
from memory_node.planner.reading.home_classes import HomeClasses, lacks
from memory_node.planner.reading.question import Slot
from memory_node.planner.reading.trained_reader import GoalModel, Prediction

_FLOOR = 0.25
_MANY = 4


class Grounding:
    """Finds the classes that an unknown noun may mean. embedder: None finds none."""

    def __init__(self, kinds: ObjectCatalogue, embedder: TextEmbedder | None) -> None:
        self._kinds = kinds
        self._embedder = embedder
        self._described: dict[str, NDArray[np.float32]] = {}

    def by_meaning(self, text: str, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the classes whose description is most like the text, best first; () without an embedder."""
        names = list(dict.fromkeys(classes))
        if self._embedder is None or not names:
            return ()
        query = self._embedder.embed([text])[0]
        scores = self._descriptions(names) @ query
        order = np.argsort(-scores)[:_MANY]
        return tuple(names[index] for index in order if scores[index] >= _FLOOR)

    def _descriptions(self, names: Sequence[str]) -> NDArray[np.float32]:
        missing = [name for name in names if name not in self._described]
        if missing:
            assert self._embedder is not None
            texts = [f"{self._kinds[name].best_name}: {self._kinds[name].gloss}" for name in missing]
            self._described.update(zip(missing, self._embedder.embed(texts)))
        return np.stack([self._described[name] for name in names])


_SLOTS = {Slot.TARGET: "target", Slot.DESTINATION: "parent", Slot.LIGHT: "light", Slot.COMMAND: "target"}
LIKELY = 0.5


class Guessing:
    """reader: None guesses no goals. grounding: which furniture is meant like another."""

    def __init__(self, kinds: ObjectCatalogue, reader: GoalModel | None, grounding: Grounding) -> None:
        self._kinds, self._reader, self._grounding = kinds, reader, grounding

    def goal_of(self, text: str, home: HomeClasses) -> Prediction | None:
        """Return the likeliest one goal of a text; None without a reader, and for what is too long for it."""
        if self._reader is None or not self._reader.fits(text):
            return None
        return self._reader.predict(text, home)

    def of_clause(self, clause: str, focus: str, text: str, home: HomeClasses) -> Prediction | None:
        """Return the likeliest goal of a clause; None where the whole text is likelier to ask for one goal.

        focus: the class that was spoken of last; its name stands for "it".
        """
        whole = self.goal_of(text, home)
        if whole is None or whole.several <= LIKELY:
            return None
        name = f"the {self._kinds[focus].best_name}" if focus else "it"
        return self.goal_of(" ".join(name if word in ("it", "them") else word for word in clause.split()), home)

    def preferred(self, clause: str, home: HomeClasses, slot: Slot, among: Sequence[str]) -> str:
        """Return which of several classes a clause means; "" where nothing tells."""
        if self._reader is None or not self._reader.fits(clause):
            return ""
        return self._reader.preferred(clause, home, _SLOTS[slot], among)

    def with_stand_ins(self, goal: Goal, home: HomeClasses) -> Goal:
        """Return a goal with what is alike in place of furniture that memory, which knows furniture of this home, has
        none of; the named thing is still looked for before."""
        changed = {}
        for slot in ("target", "destination", "light"):
            mention = getattr(goal, slot)
            if mention is None or any(self._kinds[name].pickupable for name in mention.candidates):
                continue
            if lacks(home, mention, self._kinds):
                alike = sorted(self._kinds.alike(mention.candidates) & home.fixtures)
                close = self._grounding.by_meaning(mention.text, alike)
                names = dict.fromkeys((*mention.stand_ins, *close, *alike))
                changed[slot] = replace(mention, stand_ins=tuple(names))
        return goal.changed(**changed)
