"""The reader of plain commands: the grammar's commands, interpreted in the context of what was said before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
from memory_node.planner.language.usual_rooms import UsualRooms

# A description, what memory holds -> the classes that it may mean, likeliest first.
Describe = Callable[[str, HomeClasses], Sequence[str]]
# An instruction, the part of a command, several classes that its name may mean, whether to be sure -> the one that is
# meant, "" where open.
Prefer = Callable[[Said, Slot, Sequence[str], bool], str]


class GrammarReader:
    """Interprets what the grammar has read.

    describe, similar: what descriptions and unknown nouns may mean. guesses: nobody can be asked. room_kinds: kinds of
    rooms by other names that people have for them.
    """

    def __init__(
        self,
        kinds: ObjectCatalogue,
        describe: Describe,
        similar: Describe,
        prefer: Prefer,
        guesses: bool = False,
        room_kinds: Mapping[str, str] | None = None,
    ) -> None:
        self._kinds = kinds
        self._describe = describe
        self._similar = similar
        self._prefer = prefer
        self._guesses = guesses
        self._treated_in = TreatmentWords(kinds).treated_in
        self._usual_rooms = UsualRooms(kinds, room_kinds or {})

    def read(self, said: Said) -> Reading:
        """Return the goals of the parts of an instruction, in order, or the question that one of them leaves open."""
        discourse, clues = said.discourse.copy(), self._usual_rooms.clues(said.parts)
        meaning = PhraseMeaning(
            self._kinds,
            said.home,
            discourse,
            said.recall,
            lambda words: self._describe(words, said.home),
            lambda words: self._similar(words, said.home),
            lambda slot, among, surely: self._prefer(said, slot, among, surely),
            self._guesses,
            lambda phrase, among: self._usual_rooms.likely(among, clues, phrase),
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
