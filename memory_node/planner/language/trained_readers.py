"""The two trained readers side by side: one goal as people describe it, and any instruction as a row of effects."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal
from memory_node.planner.language.asking_back import Slot
from memory_node.planner.language.reader_names import (
    GoalReader,
    NamedGoalReader,
    NamedSequenceReader,
    ReaderNames,
    SequenceReader,
)
from memory_node.planner.language.reading import Reading, Said
from memory_node.planner.language.sequence_reader import (
    GoalSequenceModel,
    SequenceReading,
    effects_of,
    goals_of,
    one_goal,
)
from memory_node.planner.language.single_goal_reader import GoalModel, Prediction
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.treatments import TreatmentWords

_SLOTS = {Slot.TARGET: "target", Slot.DESTINATION: "parent", Slot.LIGHT: "light", Slot.COMMAND: "target"}


class RowReader:
    """The reader of sequences as a Reader."""

    def __init__(self, single: GoalReader, sequence: SequenceReader) -> None:
        self._single = single
        self._sequence = sequence
        self._last: tuple[Said, SequenceReading] | None = None

    def read(self, said: Said) -> Reading:
        """Return the likeliest row of goals with classes that the words account for."""
        row = self.row(said)
        return Reading(
            "sequence",
            tuple(dict.fromkeys(goals_of(row.effects, said.text))),
            math.exp(row.score),
            None,
            row.names_unknown,
        )

    def row(self, said: Said) -> SequenceReading:
        """Return the likeliest effects; what was asked last is not read again."""
        if self._last is None or self._last[0] is not said:
            hidden = self._single.hidden(said.text, said.told)
            self._last = said, self._sequence.read(hidden, said.told, said.licensed)
        return self._last[1]

    def likelihood(self, said: Said, goals: Sequence[Goal]) -> float:
        """Return the log-probability of goals."""
        hidden = self._single.hidden(said.text, said.told)
        return self._sequence.score(hidden, said.told, effects_of(goals))


class WholeReader:
    """The reader of one goal as a Reader. rows: tells it where only a place is spoken of."""

    def __init__(self, single: GoalReader, rows: RowReader, treatments: TreatmentWords) -> None:
        self._single = single
        self._rows = rows
        self._treatments = treatments

    def read(self, said: Said) -> Reading:
        """Return the likeliest goal with classes that the words account for."""
        return Reading("model", (self.prediction(said).goal,), self.prediction(said).whole)

    def prediction(self, said: Said) -> Prediction:
        """Return the likeliest goal with its probabilities."""
        goals = goals_of(self._rows.row(said).effects, said.text)
        whole = one_goal(goals) if goals else None
        without = self._unsaid(whole, said.text) if whole is not None else ()
        return self._single.predict(said.text, said.told, without=without, licensed=said.licensed)

    def _unsaid(self, read: Goal, text: str) -> list[GoalKind]:
        """Return the kinds that "put the mug in the fridge" is not, though ALFRED's people often mean them so."""
        treated_in = self._treatments.treated_in
        place = read.destination if read.kind is GoalKind.PLACE else None
        if place is None or place.beside or read.sliced or str(place) not in treated_in.values():
            return []
        unsaid = [kind for kind in treated_in if not self._treatments.speak_of(kind, text, str(place))]
        return [*unsaid, GoalKind.PLACE_TWO]


class TrainedReaders:
    """Both readers, in the classes of a label space.

    Raises:
        ResourceMissingError: the weights are missing.
    """

    def __init__(
        self, kinds: ObjectCatalogue, single: GoalReader | None = None, sequence: SequenceReader | None = None
    ) -> None:
        single, sequence = single or GoalModel(), sequence or GoalSequenceModel()
        names = ReaderNames(kinds, sequence.classes)
        if not names.are_equal:
            single, sequence = NamedGoalReader(single, names), NamedSequenceReader(sequence, names)
        self._single = single
        self.rows = RowReader(single, sequence)
        self.whole = WholeReader(single, self.rows, TreatmentWords(kinds))

    def fits(self, text: str) -> bool:
        """Return whether they read the text to its end."""
        return self._single.fits(text)

    def described(self, phrase: str, home: HomeClasses) -> tuple[str, ...]:
        """Return the classes that a description may mean, likeliest first."""
        return self._single.named(phrase, home)

    def preference(self, text: str, home: HomeClasses, slot: Slot, among: Collection[str]) -> dict[str, float]:
        """Return how probable each of some classes is where a part of the command is ambiguous; they sum to 1."""
        return self._single.preference(text, home, _SLOTS[slot], among)
