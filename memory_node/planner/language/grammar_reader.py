"""The reader of plain commands: the grammar's commands, interpreted in the context of what was said before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.goal import Goal
from memory_node.planner.language.asking_back import Slot, UnclearError
from memory_node.planner.language.goal_rows import tidied
from memory_node.planner.language.interpretation import Interpreter
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.reading import Reading, Said
from memory_node.planner.language.spoken_instruction import Remark
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.treatments import TreatmentWords

# A description, what memory holds -> the classes that it may mean, likeliest first.
Describe = Callable[[str, HomeClasses], Sequence[str]]
# An instruction, the part of a command, several classes that its name may mean, whether to be sure -> the one that is
# meant, "" where open.
Prefer = Callable[[Said, Slot, Sequence[str], bool], str]


class GrammarReader:
    """Interprets what the grammar has read.

    describe, similar: what descriptions and unknown nouns may mean. guesses: nobody can be asked.
    """

    def __init__(
        self, kinds: ObjectCatalogue, describe: Describe, similar: Describe, prefer: Prefer, guesses: bool = False
    ) -> None:
        self._kinds = kinds
        self._describe = describe
        self._similar = similar
        self._prefer = prefer
        self._guesses = guesses
        self._treated_in = TreatmentWords(kinds).treated_in

    def read(self, said: Said) -> Reading:
        """Return the goals of the parts of an instruction, in order, or the question that one of them leaves open."""
        discourse = said.discourse.copy()
        meaning = PhraseMeaning(
            self._kinds,
            said.home,
            discourse,
            said.recall,
            lambda words: self._describe(words, said.home),
            lambda words: self._similar(words, said.home),
            lambda slot, among, surely: self._prefer(said, slot, among, surely),
            self._guesses,
        )
        interpreter = Interpreter(self._kinds, meaning, said.home, discourse)
        goals: list[Goal] = []
        for index, part in enumerate(said.parts):
            if isinstance(part, Remark):
                interpreter.remark(part)
                continue
            try:
                goals += interpreter.read(part)
            except UnclearError as unclear:
                return Reading("commands", (), 0.0, unclear.question, discourse=discourse, unclear=index)
        tidy = tidied(goals, self._kinds.reading_lights, self._treated_in)
        return Reading("commands", tuple(tidy), discourse=discourse)
