"""Whether words speak of washing, heating or cooling; people who only say where a thing goes mean no more than that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.treatment import Treatment
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal

_KINDS = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL)


class TreatmentWords:
    """The words of a label space for treatments, and the names of the appliances that they take."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self._treatments = {kind: kinds.treatments_of(kind) for kind in _KINDS}
        usual = {kind: treatments[0] for kind, treatments in self._treatments.items() if treatments}
        self.treated_in = {kind: one.at[0] for kind, one in usual.items() if one.at}
        self._appliances = {kind: _named(_appliances(one, kinds), kinds) for kind, one in usual.items()}

    def speak_of(self, kind: GoalKind, text: str, destination: str = "") -> bool:
        """Return whether a text has a word for a treatment (CLEAN, HEAT or COOL).

        The name of its appliance is none where the thing is to end up in it ("put the mug in the fridge").
        """
        appliances = self._appliances.get(kind)
        passed = destination != self.treated_in.get(kind) and appliances is not None and appliances.search(text)
        return bool(passed) or any(one.is_spoken_of(text) for one in self._treatments.get(kind, ()))

    def named(self, goals: Sequence[Goal], commanded: Sequence[Goal], text: str) -> list[Goal]:
        """Return goals with the treatments that the words name: "toast" where they only say that something is heated.

        commanded: the goals of the grammar, which knows the verb of each; else all words of the text count.
        """
        verbs = {(goal.kind, goal.target.object_class): goal.treatment for goal in commanded}
        return [
            goal.changed(treatment=verbs.get((goal.kind, goal.target.object_class)) or self._only_one(goal.kind, text))
            if not goal.treatment
            else goal
            for goal in goals
        ]

    def _only_one(self, kind: GoalKind, text: str) -> str:
        spoken_of = [one.name for one in self._treatments.get(kind, ()) if one.is_spoken_of(text)]
        return spoken_of[0] if len(spoken_of) == 1 else ""


def _appliances(usual: Treatment, kinds: ObjectCatalogue) -> Iterable[str]:
    return (name for place in usual.at for name in (place, kinds[place].switched_by) if name)


def _named(classes: Iterable[str], kinds: ObjectCatalogue) -> re.Pattern[str]:
    names = sorted({re.escape(name) for one in classes for name in kinds[one].names})
    return re.compile(rf"\b(?:{'|'.join(names)})\b" if names else r"(?!)", re.IGNORECASE)
